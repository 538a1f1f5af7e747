// Package diff compares trees as people read it: renames paired, lines counted, patches.
// git does the work. What merely differs, shadow.Store.DiffTrees tells without a git.
package diff
