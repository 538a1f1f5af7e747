package home

// AsideSuffix follows the name of what was set aside, before a number.
const AsideSuffix = ".damaged-"
