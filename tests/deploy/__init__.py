"""The image and the files of deploy/, held against the product and the tools that read them."""
