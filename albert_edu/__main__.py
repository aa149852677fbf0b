"""python -m albert_edu VERB"""

from albert_edu.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
