# Each target makes its own virtual environment; scripts/dev.sh does the work and runs without make too.
.PHONY: demo test check venv help clean

help:
	@echo "make demo    play real episodes in real sandboxes and show a table"
	@echo "make test    run the tests (ARGS='-k name' for some)"
	@echo "make check   ruff, mypy, pyright"
	@echo "make venv    only set up .venv for development"

demo test check venv:
	@bash scripts/dev.sh $@ $(ARGS)

clean:
	rm -rf .venv .venv-gym12 build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
