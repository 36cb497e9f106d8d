"""What `make quality` measures: Lighthouse, axe, the Nu HTML checker, weight; and the pictures."""
