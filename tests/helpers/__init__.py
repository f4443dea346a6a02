"""Small problems and samplings, each in two forms: the library's and the reference's."""
