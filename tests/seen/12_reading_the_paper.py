"""What the page says of two early tables: 20 points below BERT-large, and 15 between the tables."""

early = TABLES["early-1"]
xlarge = early["BERT-xlarge (authors' run)"]["RACE"]
assert 19 < early["BERT-large (authors' run)"]["RACE"] - xlarge < 21
assert 14 < xlarge - TABLES["early-main"]["BERT-xlarge"]["RACE"] < 16
