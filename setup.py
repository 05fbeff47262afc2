"""The packages of kgdash; pyproject.toml says the rest.

The dashboard lies beside the package here, since Streamlit starts app.py; installed, it lies in it.
"""

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class Build(build_py):
    """Leaves this file out, which lies where the dashboard does."""

    def find_package_modules(self, package: str, package_dir: str) -> list:
        """List (package, module, file)."""
        modules = super().find_package_modules(package, package_dir)
        return [module for module in modules if module[1] != "setup"]


setup(
    packages=[*find_packages(include=["kgdash*"]), "kgdash.dashboard", "kgdash.dashboard.pages"],
    package_dir={"kgdash.dashboard": ".", "kgdash.dashboard.pages": "pages"},
    cmdclass={"build_py": Build},
)
