"""Sources of pictures: folders of files, MNIST's format, the digits that ship with this package."""
