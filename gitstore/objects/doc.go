// Package objects reads the objects of a Git repository, Umbra's or the user's, from
// loose files and packs, and writes packs. It proves what it reads by its id.
//
// It is the only package that compresses and that imports go-git's pack format. It knows
// no refs, no snapshots and no records, decides nothing about what is stored, and removes
// only packs of Umbra's own that were never finished.
package objects
