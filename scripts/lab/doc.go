// Package lab is what measuring and enduring have in common: trees made from a
// seed, processes that are timed and accounted for, a file system of their own,
// Umbra driven by its command line, and native git used as its peers use it. It
// drives umbra from outside and judges nothing.
package lab
