"""Draw everything again: python -m figures.drawings."""

from figures.drawings.gallery import save_all

if __name__ == "__main__":
    save_all()
