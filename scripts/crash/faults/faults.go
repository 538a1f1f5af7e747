// Package faults makes a file-system call of a process fail: an Injector hears of each
// before the kernel does it. It knows which calls there are and how each may fail, and
// nothing of who makes them.
package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// A Spot tells file-system calls apart by what they are: what they do, and to which of
// places. Of a spot without a place are all calls of its kind.
type Spot struct {
	Kind  string // of Kinds
	Place string // as a Namer says, "": anywhere
}

func (s Spot) String() string {
	if s.Place == "" {
		return s.Kind
	}
	return s.Kind + " " + s.Place
}

// A Namer names the place of what has a path below an injector's directory.
type Namer func(rel string) string

// A Fault is a file-system call of a process that fails once. The zero value is none.
type Fault struct {
	Spot               // of Kinds, or that of Counts
	Nth  int           // there, from 1, of the process and its children
	Err  syscall.Errno // what it fails with; HalfDone: of what is to be written, half is
}

// Counts is a fault that never comes: all calls are counted.
var Counts = Fault{Spot: Spot{Kind: "none"}}

// HalfDone is no error of the kernel's: a write writes half, and says so.
const HalfDone = syscall.Errno(0)

// Kinds are the file-system calls that fail, by what they do, and how each may.
var Kinds = map[string][]syscall.Errno{
	"open":     {syscall.EMFILE, syscall.EIO, syscall.EACCES, syscall.ENOSPC},
	"stat":     {syscall.EIO, syscall.EACCES},
	"read":     {syscall.EIO},
	"list":     {syscall.EIO},
	"readlink": {syscall.EIO},
	"write":    {syscall.ENOSPC, HalfDone, syscall.EIO},
	"sync":     {syscall.EIO, syscall.ENOSPC},
	"truncate": {syscall.ENOSPC, syscall.EIO},
	"mkdir":    {syscall.ENOSPC, syscall.EACCES, syscall.EIO},
	"rename":   {syscall.ENOSPC, syscall.EACCES, syscall.EIO},
	"link":     {syscall.ENOSPC, syscall.EACCES, syscall.EIO},
	"symlink":  {syscall.ENOSPC, syscall.EACCES, syscall.EIO},
	"unlink":   {syscall.EACCES, syscall.EIO},
	"chmod":    {syscall.EACCES, syscall.EIO},
	"times":    {syscall.EACCES, syscall.EIO},
	"copy":     {syscall.ENOSPC, syscall.EIO},
}

func (f Fault) String() string {
	return fmt.Sprintf("%s, %d: %s", f.Spot, f.Nth, f.How())
}

// How says in which way it fails.
func (f Fault) How() string {
	if f.Err == HalfDone {
		return "half of it done"
	}
	return f.Err.Error()
}

// Of are all that can happen where calls are made that often.
func Of(calls map[Spot]int) []Fault {
	var list []Fault
	for at, count := range calls {
		if at.Place != "" {
			continue
		}
		for _, err := range Kinds[at.Kind] {
			for n := range count {
				list = append(list, Fault{at, n + 1, err})
			}
		}
	}
	slices.SortFunc(list, Compare)
	return list
}

// Compare orders faults by what they are.
func Compare(a, b Fault) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Place, b.Place), a.Nth-b.Nth, int(a.Err)-int(b.Err))
}
