"""What makes a check and asks an answer.

Read in this order. making (the parts of an exercise become a check and its card), card (what is
right, and how it is asked), check (what a student holds). A call: judging (asks, and judges),
running and limits (one answer to one question), asking (helpers of cards), comparing (is it the
same?), edits (mistakes as wrong answers), explaining and differing (why it is wrong). What is
shown: properties, report, page.

What happens to an answer, in judging: the card draws its questions, and its reference says what is
right. The answer is asked each of them, up to one that stops it. Where a result is wrong, the known
mistakes are asked the same. A wrong result then gets the mistake that gives it, else a reason (an
error, None, a type that cannot be compared), else how it differs.
"""
