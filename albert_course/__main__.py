"""python -m albert_course VERB"""

from albert_course.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
