"""What stands around the notebooks.

In a lesson: cells (what a first cell imports), guesses, charts, yours (the reader's function, or
ours), own_model, kill (notebook 07) and cuts (notebook 01); checks has those of the exercises.
Around it: doctor, copies (in work/), notebooks (executed and stored), publish, folder, cli;
assignments has what an instructor needs.
"""
