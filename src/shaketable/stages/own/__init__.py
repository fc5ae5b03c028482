"""Functions, objects and tables of a script or notebook → parts, questions and studies."""
