package restore

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Document is what a journal entry must hold about the files of an operation,
// as a part of the caller's own document.
type Document struct {
	// Workspace is the path, for messages; Root is what it must be.
	Workspace string
	Root      beneath.Identity
	Plan      Plan
	// Opened are directories without write or search permission that are given
	// it for the time of the operation.
	Opened []DirMode
	// Beside are the changes that are staged and set aside in the workspace, as
	// .umbra-<operation>-<n>, since the journal is on another file system: where
	// in Plan.Changes, and the directory.
	Beside map[int]string
}

type documentJSON struct {
	Workspace gitstore.Text         `json:"workspace"`
	Root      beneath.Identity      `json:"root"`
	Plan      Plan                  `json:"plan"`
	Opened    []modeJSON            `json:"opened,omitempty"`
	Beside    map[int]gitstore.Text `json:"beside,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (d Document) MarshalJSON() ([]byte, error) {
	doc := documentJSON{Workspace: gitstore.Text(d.Workspace), Root: d.Root, Plan: d.Plan, Opened: encodeModes(d.Opened)}
	if len(d.Beside) > 0 {
		doc.Beside = make(map[int]gitstore.Text, len(d.Beside))
	}
	for i, dir := range d.Beside {
		doc.Beside[i] = gitstore.Text(dir)
	}
	return json.Marshal(doc)
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Document) UnmarshalJSON(data []byte) error {
	var doc documentJSON
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	*d = Document{
		Workspace: string(doc.Workspace), Root: doc.Root, Plan: doc.Plan,
		Opened: decodeModes(doc.Opened), Beside: make(map[int]string, len(doc.Beside)),
	}
	for i, dir := range doc.Beside {
		d.Beside[i] = string(dir)
	}
	return nil
}

// PrepareOptions are the ways in which Prepare can differ.
type PrepareOptions struct {
	// Beside stages everything in the workspace: for a second try after one that
	// failed with beneath.ErrCrossDevice where nothing had told of it.
	Beside bool
}

// Prepare finds out where the files of a plan can be staged and set aside, and
// which directories must be made writable. JournalDir is the journal's
// directory, operation the UUID that the entry will have. It changes nothing.
func Prepare(root *beneath.Root, journalDir, operation string, plan *Plan, options PrepareOptions) (*Document, error) {
	if err := root.Verify(); err != nil {
		return nil, err
	}
	area, err := beneath.Open(journalDir)
	if err != nil {
		return nil, err
	}
	defer area.Close()
	p := &preparation{
		root: root, area: area, operation: operation, options: options,
		unsteady: map[string]bool{}, opened: map[string]bool{}, crossing: map[string]bool{},
		doc: &Document{Workspace: root.Path(), Root: root.Identity(), Plan: *plan, Beside: map[int]string{}},
	}
	for _, d := range slices.Concat(plan.MakeDirs, plan.RemoveDirs) {
		p.unsteady[d.Path] = true
	}
	for i := range plan.Changes {
		if err := p.change(i); err != nil {
			return nil, err
		}
	}
	for _, d := range slices.Concat(plan.MakeDirs, plan.RemoveDirs) {
		if err := p.open(treepath.Parent(d.Path)); err != nil {
			return nil, err
		}
	}
	for _, r := range plan.Renames {
		if err := p.open(treepath.Parent(r.From)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(p.doc.Opened, func(a, b DirMode) int { return strings.Compare(a.Path, b.Path) })
	return p.doc, nil
}

type preparation struct {
	root, area *beneath.Root
	operation  string
	options    PrepareOptions
	doc        *Document
	unsteady   map[string]bool // directories that come or go
	opened     map[string]bool // directories looked at
	crossing   map[string]bool
}

func (p *preparation) change(i int) error {
	c := &p.doc.Plan.Changes[i]
	if c.Action() == Chmod {
		return nil
	}
	dir, err := p.haven(treepath.Parent(c.Path))
	if err != nil {
		return err
	}
	crosses, err := p.crosses(dir)
	if err != nil {
		return err
	}
	if crosses {
		p.doc.Beside[i] = dir
		if err := p.open(dir); err != nil {
			return err
		}
	}
	return p.open(treepath.Parent(c.Path))
}

// haven is the nearest directory, from dir upwards, that is there and stays,
// as long as it is on the file system of what is in dir.
func (p *preparation) haven(dir string) (string, error) {
	device, last := uint64(0), ""
	for ; ; dir = treepath.Parent(dir) {
		st, there, err := statDir(p.root, dir)
		if err != nil {
			return "", err
		}
		if there {
			if device != 0 && st.Device != device {
				return last, nil
			}
			device, last = st.Device, dir
		}
		if dir == "" || there && !p.unsteady[dir] {
			return dir, nil
		}
	}
}

// crosses tells whether a rename between the journal and dir fails. The device
// does not tell of a bind mount, where rename fails all the same, before it
// looks for what is to be renamed.
func (p *preparation) crosses(dir string) (bool, error) {
	if p.options.Beside {
		return true, nil
	}
	if known, ok := p.crossing[dir]; ok {
		return known, nil
	}
	st, _, err := statDir(p.root, dir)
	if err != nil {
		return false, err
	}
	crosses := st.Device != p.area.Identity().Device
	if !crosses {
		name := beneath.ScratchName(p.operation, 0)
		err := beneath.Rename(p.area, name, p.root, treepath.Join(dir, name))
		switch {
		case err == nil:
			return false, fmt.Errorf("%s was in the journal, and should not have been", name)
		case errors.Is(err, beneath.ErrCrossDevice):
			crosses = true
		}
	}
	p.crossing[dir] = crosses
	return crosses, nil
}

// open notes a directory whose names are to change and that does not allow it.
// Whether the process may pass over that, as root does, is not asked: it may
// not on every file system.
func (p *preparation) open(dir string) error {
	if p.opened[dir] {
		return nil
	}
	p.opened[dir] = true
	st, there, err := statDir(p.root, dir)
	if err != nil || !there || st.Perm()&0o300 == 0o300 {
		return err
	}
	p.doc.Opened = append(p.doc.Opened, DirMode{Path: dir, From: st.Perm(), To: st.Perm() | 0o700})
	return nil
}
