// Package diff compares trees as people read it: renames paired, lines counted, patches.
// git does the work. What merely differs is for gitstore's DiffTrees, without a git.
package diff
