"""python -m albert_paper VERB"""

from albert_paper.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
