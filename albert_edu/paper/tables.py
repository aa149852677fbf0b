"""Every table of the paper, as printed. Read them through ``albert_edu.paper.published``; type no number anywhere else.

Parameters are in millions, as printed; a dash in the paper is None. Rows are known by their key columns, and the sharing
strategies carry the library's names (all, attention, ffn, none). Slips and contradictions of the paper are kept, and named
in the notes of the table.
"""

from typing import NamedTuple


class F1EM(NamedTuple):
    """A SQuAD score: word overlap with the reference answer, and the share of answers that are exactly it."""

    f1: float
    em: float


class RaceTest(NamedTuple):
    """A RACE test score: all questions, then those of the middle and the high school exams."""

    all: float
    middle: float
    high: float


_PAPER = "Lan et al., ALBERT, arXiv 1909.11942v6 (ICLR 2020), "
_SCORES = ("SQuAD1.1", "SQuAD2.0", "MNLI", "SST-2", "RACE", "Avg")
_BASE_MNLI = "MNLI of ALBERT-base is 81.6 in Tables 2, 3 and 7 but 82.0 in Tables 4 and 5; the Avg, 80.1, fits both."
_E128_MNLI = "E=128 without sharing has MNLI 83.7 and Avg 81.7 in Table 3 but 83.2 and 81.6 in Table 4; all else is equal."
_XXLARGE = "No way of counting we tried gives xxlarge 235M parameters; Table 12 prints the same shared layer, H=4096, as 225M."

# The fields of ``published.Table``, one after the other: number, title, key, columns, rows, source, notes.
PRINTED = (
    ("1", "Configurations", ("model",), ("model", "params", "layers", "H", "E", "share"), (
        ("BERT-base", 108, 12, 768, 768, "none"),
        ("BERT-large", 334, 24, 1024, 1024, "none"),
        ("ALBERT-base", 12, 12, 768, 128, "all"),
        ("ALBERT-large", 18, 24, 1024, 128, "all"),
        ("ALBERT-xlarge", 60, 24, 2048, 128, "all"),
        ("ALBERT-xxlarge", 235, 12, 4096, 128, "all"),
    ), _PAPER + "Table 1 (section 3.2)", (
        _XXLARGE,
        "Rows with sharing count the pooler, rows without leave it out; no row counts the pre-training heads.",
    )),
    ("2", "Dev results after 125k steps on BookCorpus and Wikipedia", ("model",), ("model", "params", *_SCORES, "speedup"), (
        ("BERT-base", 108, F1EM(90.4, 83.2), F1EM(80.4, 77.6), 84.5, 92.8, 68.2, 82.3, 4.7),
        ("BERT-large", 334, F1EM(92.2, 85.5), F1EM(85.0, 82.2), 86.6, 93.0, 73.9, 85.2, 1.0),
        ("ALBERT-base", 12, F1EM(89.3, 82.3), F1EM(80.0, 77.1), 81.6, 90.3, 64.0, 80.1, 5.6),
        ("ALBERT-large", 18, F1EM(90.6, 83.9), F1EM(82.3, 79.4), 83.5, 91.7, 68.5, 82.4, 1.7),
        ("ALBERT-xlarge", 60, F1EM(92.5, 86.1), F1EM(86.1, 83.1), 86.4, 92.4, 74.8, 85.5, 0.6),
        ("ALBERT-xxlarge", 235, F1EM(94.1, 88.3), F1EM(88.1, 85.1), 88.0, 95.2, 82.3, 88.7, 0.3),
    ), _PAPER + "Table 2 (section 4.3)", (
        "Speedup is training data throughput on the same number of TPUs, BERT-large = 1; it says nothing of inference.",
        "The xxlarge scores are those of the 24-layer model of Table 13, although Table 1 gives xxlarge 12 layers.",
        "Section 4.7 puts xxlarge 3.17 times behind BERT-large; the table rounds that to 0.3.",
        _BASE_MNLI,
        _XXLARGE,
    )),
    ("3", "Embedding size, ALBERT-base", ("share", "E"), ("share", "E", "params", *_SCORES), (
        ("none", 64, 87, F1EM(89.9, 82.9), F1EM(80.1, 77.8), 82.9, 91.5, 66.7, 81.3),
        ("none", 128, 89, F1EM(89.9, 82.8), F1EM(80.3, 77.3), 83.7, 91.5, 67.9, 81.7),
        ("none", 256, 93, F1EM(90.2, 83.2), F1EM(80.3, 77.4), 84.1, 91.9, 67.3, 81.8),
        ("none", 768, 108, F1EM(90.4, 83.2), F1EM(80.4, 77.6), 84.5, 92.8, 68.2, 82.3),
        ("all", 64, 10, F1EM(88.7, 81.4), F1EM(77.5, 74.8), 80.8, 89.4, 63.5, 79.0),
        ("all", 128, 12, F1EM(89.3, 82.3), F1EM(80.0, 77.1), 81.6, 90.3, 64.0, 80.1),
        ("all", 256, 16, F1EM(88.8, 81.5), F1EM(79.1, 76.3), 81.5, 90.3, 63.4, 79.6),
        ("all", 768, 31, F1EM(88.6, 81.5), F1EM(79.2, 76.6), 82.0, 90.6, 63.3, 79.8),
    ), _PAPER + "Table 3 (section 4.4)", (
        "The row without sharing at E=768 is BERT-base: the same scores as in Table 2.",
        _BASE_MNLI,
        _E128_MNLI,
    )),
    ("4", "Sharing strategy, ALBERT-base", ("E", "share"), ("E", "share", "params", *_SCORES), (
        (768, "all", 31, F1EM(88.6, 81.5), F1EM(79.2, 76.6), 82.0, 90.6, 63.3, 79.8),
        (768, "attention", 83, F1EM(89.9, 82.7), F1EM(80.0, 77.2), 84.0, 91.4, 67.7, 81.6),
        (768, "ffn", 57, F1EM(89.2, 82.1), F1EM(78.2, 75.4), 81.5, 90.8, 62.6, 79.5),
        (768, "none", 108, F1EM(90.4, 83.2), F1EM(80.4, 77.6), 84.5, 92.8, 68.2, 82.3),
        (128, "all", 12, F1EM(89.3, 82.3), F1EM(80.0, 77.1), 82.0, 90.3, 64.0, 80.1),
        (128, "attention", 64, F1EM(89.9, 82.8), F1EM(80.7, 77.9), 83.4, 91.9, 67.6, 81.7),
        (128, "ffn", 38, F1EM(88.9, 81.6), F1EM(78.6, 75.6), 82.3, 91.7, 64.4, 80.2),
        (128, "none", 89, F1EM(89.9, 82.8), F1EM(80.3, 77.3), 83.2, 91.5, 67.9, 81.6),
    ), _PAPER + "Table 4 (section 4.5)", (
        "Section 4.5 also speaks of groups of layers, smaller groups being better, but prints no number.",
        _BASE_MNLI,
        _E128_MNLI,
    )),
    ("5", "Sentence-level loss, ALBERT-base", ("loss",), ("loss", "MLM acc", "NSP acc", "SOP acc", *_SCORES), (
        ("none", 54.9, 52.4, 53.3, F1EM(88.6, 81.5), F1EM(78.1, 75.3), 81.5, 89.9, 61.7, 79.0),
        ("NSP", 54.5, 90.5, 52.0, F1EM(88.4, 81.5), F1EM(77.2, 74.6), 81.6, 91.1, 62.3, 79.2),
        ("SOP", 54.0, 78.9, 86.5, F1EM(89.3, 82.3), F1EM(80.0, 77.1), 82.0, 90.3, 64.0, 80.1),
    ), _PAPER + "Table 5 (section 4.6)", (
        "How a model was scored on a task it had not been trained on (a head fitted afterwards, or another) is not said.",
        _BASE_MNLI,
    )),
    ("6", "The same training time", ("model",), ("model", "steps", "hours", *_SCORES), (
        ("BERT-large", 400_000, 34, F1EM(93.5, 87.4), F1EM(86.9, 84.3), 87.8, 94.6, 77.3, 87.2),
        ("ALBERT-xxlarge", 125_000, 32, F1EM(94.0, 88.1), F1EM(88.3, 85.3), 87.8, 95.4, 82.5, 88.7),
    ), _PAPER + "Table 6 (section 4.7)", (
        "The xxlarge row is the 12-layer model of Table 13; Table 2 prints the 24-layer one.",
    )),
    ("7", "More data, ALBERT-base", ("data",), ("data", *_SCORES), (
        ("books and wikipedia", F1EM(89.3, 82.3), F1EM(80.0, 77.1), 81.6, 90.3, 64.0, 80.1),
        ("additional", F1EM(88.8, 81.7), F1EM(79.1, 76.3), 82.4, 92.8, 66.0, 80.8),
    ), _PAPER + "Table 7 (section 4.8)", ("The additional data are those of XLNet and RoBERTa.", _BASE_MNLI)),
    ("8", "Dropout, ALBERT-xxlarge after about 1M steps", ("dropout",), ("dropout", *_SCORES), (
        ("with", F1EM(94.7, 89.2), F1EM(89.6, 86.9), 90.0, 96.3, 85.7, 90.4),
        ("without", F1EM(94.8, 89.5), F1EM(89.9, 87.2), 90.4, 96.5, 86.1, 90.7),
    ), _PAPER + "Table 8 (section 4.8)", (
        "Both runs continue one training, dropout being switched off on the way (Figure 2b); neither started from scratch.",
    )),
    ("9", "GLUE: single models on dev, ensembles on test", ("setting", "model"),
     ("setting", "model", "MNLI", "QNLI", "QQP", "RTE", "SST-2", "MRPC", "CoLA", "STS", "WNLI", "Avg"), (
        ("single", "BERT-large", 86.6, 92.3, 91.3, 70.4, 93.2, 88.0, 60.6, 90.0, None, None),
        ("single", "XLNet-large", 89.8, 93.9, 91.8, 83.8, 95.6, 89.2, 63.6, 91.8, None, None),
        ("single", "RoBERTa-large", 90.2, 94.7, 92.2, 86.6, 96.4, 90.9, 68.0, 92.4, None, None),
        ("single", "ALBERT (1M)", 90.4, 95.2, 92.0, 88.1, 96.8, 90.2, 68.7, 92.7, None, None),
        ("single", "ALBERT (1.5M)", 90.8, 95.3, 92.2, 89.2, 96.9, 90.9, 71.4, 93.0, None, None),
        ("ensemble", "ALICE", 88.2, 95.7, 90.7, 83.5, 95.2, 92.6, 69.2, 91.1, 80.8, 87.0),
        ("ensemble", "MT-DNN", 87.9, 96.0, 89.9, 86.3, 96.5, 92.7, 68.4, 91.1, 89.0, 87.6),
        ("ensemble", "XLNet", 90.2, 98.6, 90.3, 86.3, 96.8, 93.0, 67.8, 91.6, 90.4, 88.4),
        ("ensemble", "RoBERTa", 90.8, 98.9, 90.2, 88.2, 96.7, 92.3, 67.8, 92.2, 89.0, 88.5),
        ("ensemble", "Adv-RoBERTa", 91.1, 98.8, 90.3, 88.7, 96.8, 93.1, 68.0, 92.4, 89.0, 88.8),
        ("ensemble", "ALBERT", 91.3, 99.2, 90.5, 89.2, 97.1, 93.4, 69.1, 92.5, 91.8, 89.4),
    ), _PAPER + "Table 9 (section 4.9)", (
        "Single task fine-tuning, dev scores are medians of five runs; RTE, STS and MRPC start from an MNLI model.",
        "Ensembles are those of the leaderboard on 16 September 2019; their Avg is its score, not the mean of the row.",
    )),
    ("10", "SQuAD and RACE: single models and ensembles", ("setting", "model"),
     ("setting", "model", "SQuAD1.1 dev", "SQuAD2.0 dev", "SQuAD2.0 test", "RACE test"), (
        ("single", "BERT-large", F1EM(90.9, 84.1), F1EM(81.8, 79.0), F1EM(89.1, 86.3), RaceTest(72.0, 76.6, 70.1)),
        ("single", "XLNet", F1EM(94.5, 89.0), F1EM(88.8, 86.1), F1EM(89.1, 86.3), RaceTest(81.8, 85.5, 80.2)),
        ("single", "RoBERTa", F1EM(94.6, 88.9), F1EM(89.4, 86.5), F1EM(89.8, 86.8), RaceTest(83.2, 86.5, 81.3)),
        ("single", "UPM", None, None, F1EM(89.9, 87.2), None),
        ("single", "XLNet + SG-Net Verifier++", None, None, F1EM(90.1, 87.2), None),
        ("single", "ALBERT (1M)", F1EM(94.8, 89.2), F1EM(89.9, 87.2), None, RaceTest(86.0, 88.2, 85.1)),
        ("single", "ALBERT (1.5M)", F1EM(94.8, 89.3), F1EM(90.2, 87.4), F1EM(90.9, 88.1), RaceTest(86.5, 89.0, 85.5)),
        ("ensemble", "BERT-large", F1EM(92.2, 86.2), None, None, None),
        ("ensemble", "XLNet + SG-Net Verifier", None, None, F1EM(90.7, 88.2), None),
        ("ensemble", "UPM", None, None, F1EM(90.7, 88.2), None),
        ("ensemble", "XLNet + DAAF + Verifier", None, None, F1EM(90.9, 88.6), None),
        ("ensemble", "DCMN+", None, None, None, RaceTest(84.1, 88.5, 82.3)),
        ("ensemble", "ALBERT", F1EM(95.5, 90.1), F1EM(91.4, 88.9), F1EM(92.2, 89.7), RaceTest(89.4, 91.2, 88.6)),
    ), _PAPER + "Table 10 (section 4.9)", (
        "BERT-large's SQuAD2.0 test cell repeats XLNet's, far above its own dev score: probably a slip of the paper.",
        "Leaderboards as of 23 September 2019.",
    )),
    ("11", "Depth, ALBERT-large", ("layers",), ("layers", "params", *_SCORES), (
        (1, 18, F1EM(31.1, 22.9), F1EM(50.1, 50.1), 66.4, 80.8, 40.1, 52.9),
        (3, 18, F1EM(79.8, 69.7), F1EM(64.4, 61.7), 77.7, 86.7, 54.0, 71.2),
        (6, 18, F1EM(86.4, 78.4), F1EM(73.8, 71.1), 81.2, 88.9, 60.9, 77.2),
        (12, 18, F1EM(89.8, 83.3), F1EM(80.7, 77.9), 83.3, 91.7, 66.7, 81.5),
        (24, 18, F1EM(90.3, 83.3), F1EM(81.8, 79.0), 83.3, 91.5, 68.7, 82.1),
        (48, 18, F1EM(90.0, 83.1), F1EM(81.8, 78.9), 83.4, 91.9, 66.9, 81.8),
    ), _PAPER + "Table 11 (appendix A.1)", (
        "From 3 layers on, each model starts from the weights of the one above it; so the 24-layer row is not Table 2's.",
        "Footnote 5: the warm start gains nothing downstream, but it lets 48 layers converge; xxlarge started from 6 layers.",
    )),
    ("12", "Width, ALBERT-large with 3 layers", ("H",), ("H", "params", *_SCORES), (
        (1024, 18, F1EM(79.8, 69.7), F1EM(64.4, 61.7), 77.7, 86.7, 54.0, 71.2),
        (2048, 60, F1EM(83.3, 74.1), F1EM(69.1, 66.6), 79.7, 88.6, 58.2, 74.6),
        (4096, 225, F1EM(85.0, 76.4), F1EM(71.0, 68.1), 80.3, 90.4, 60.4, 76.3),
        (6144, 499, F1EM(84.7, 75.8), F1EM(67.8, 65.4), 78.1, 89.1, 56.0, 74.0),
    ), _PAPER + "Table 12 (appendix A.1)", ("None of them overfits: training and dev loss are both above the best models'.",)),
    ("13", "Depth of a very wide model, ALBERT-xxlarge", ("layers",), ("layers", *_SCORES), (
        (12, F1EM(94.0, 88.1), F1EM(88.3, 85.3), 87.8, 95.4, 82.5, 88.7),
        (24, F1EM(94.1, 88.3), F1EM(88.1, 85.1), 88.0, 95.2, 82.3, 88.7),
    ), _PAPER + "Table 13 (appendix A.2)", ("12 layers are the xxlarge row of Table 6, 24 layers that of Table 2.",)),
    ("14", "Fine-tuning", ("task",),
     ("task", "learning rate", "batch", "ALBERT dropout", "classifier dropout", "steps", "warmup", "max length"), (
        ("CoLA", 1e-5, 16, 0.0, 0.1, 5336, 320, 512),
        ("STS", 2e-5, 16, 0.0, 0.1, 3598, 214, 512),
        ("SST-2", 1e-5, 32, 0.0, 0.1, 20935, 1256, 512),
        ("MNLI", 3e-5, 128, 0.0, 0.1, 10000, 1000, 512),
        ("QNLI", 1e-5, 32, 0.0, 0.1, 33112, 1986, 512),
        ("QQP", 5e-5, 128, 0.1, 0.1, 14000, 1000, 512),
        ("RTE", 3e-5, 32, 0.1, 0.1, 800, 200, 512),
        ("MRPC", 2e-5, 32, 0.0, 0.1, 800, 200, 512),
        ("WNLI", 2e-5, 16, 0.1, 0.1, 2000, 250, 512),
        ("SQuAD1.1", 5e-5, 48, 0.0, 0.1, 3649, 365, 384),
        ("SQuAD2.0", 3e-5, 48, 0.0, 0.1, 8144, 814, 512),
        ("RACE", 2e-5, 32, 0.1, 0.1, 12000, 1000, 512),
    ), _PAPER + "Table 14 (appendix A.4)", (
        "Tuned for v1. For v2 the authors' README takes RACE at 1e-5 without dropout; the row printed here diverges there.",
    )),
    ("early-1", "A larger hidden size hurts BERT (claim dropped later)", ("model",), ("model", "H", "params", "RACE"), (
        ("BERT-large (Devlin et al.)", 1024, 334, 72.0),
        ("BERT-large (authors' run)", 1024, 334, 73.9),
        ("BERT-xlarge (authors' run)", 2048, 1270, 54.3),
    ), "Lan et al., ALBERT, version of October 2019, Table 1, read from a bilingual copy", (
        "Not in the final paper. BERT-xlarge's RACE is 54.3 here and 39.7 in the main table of the early version.",
        "The copy prints 2028 for BERT-xlarge's hidden size where its text says 2048.",
    )),
    ("early-main", "Main results of the early version", ("model",), ("model", "params", *_SCORES, "speedup"), (
        ("BERT-base", 108, F1EM(90.5, 83.3), F1EM(80.3, 77.3), 84.1, 91.7, 68.3, 82.1, 17.7),
        ("BERT-large", 334, F1EM(92.4, 85.8), F1EM(83.9, 80.8), 85.8, 92.2, 73.8, 85.1, 3.8),
        ("BERT-xlarge", 1270, F1EM(86.3, 77.9), F1EM(73.8, 70.5), 80.5, 87.8, 39.7, 76.7, 1.0),
        ("ALBERT-base", 12, F1EM(89.3, 82.1), F1EM(79.1, 76.1), 81.9, 89.4, 63.5, 80.1, 21.1),
        ("ALBERT-large", 18, F1EM(90.9, 84.1), F1EM(82.1, 79.0), 83.8, 90.6, 68.4, 82.4, 6.5),
        ("ALBERT-xlarge", 59, F1EM(93.0, 86.5), F1EM(85.9, 83.1), 85.4, 91.9, 73.9, 85.5, 2.4),
        ("ALBERT-xxlarge", 233, F1EM(94.1, 88.3), F1EM(88.1, 85.1), 88.0, 95.2, 82.3, 88.7, 1.2),
    ), "Lan et al., ALBERT, version of autumn 2019, Table 3, read from screenshots in brightmart/albert_zh", (
        "Avg is not the mean of the row, except for xxlarge: BERT-xlarge's row averages 72.5, not 76.7.",
        "Speedup is relative to BERT-xlarge; divided by BERT-large's 3.8 it is the final paper's.",
        "BERT-xlarge's RACE is 39.7 here and 54.3 in the early table 1; the final paper dropped the model and the claim.",
    )),
)  # fmt: skip
