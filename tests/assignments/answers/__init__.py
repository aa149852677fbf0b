"""What a class hands in, one file for each assignment."""
