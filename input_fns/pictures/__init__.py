"""Sources of pictures: folders of files, the MNIST format, the digits of this package."""
