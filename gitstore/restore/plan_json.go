package restore

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// The JSON of a plan is part of a record's operation.json.

type planJSON struct {
	From       gitstore.ID  `json:"from"`
	To         gitstore.ID  `json:"to"`
	Changes    []changeJSON `json:"changes,omitempty"`
	MakeDirs   []dirJSON    `json:"make_directories,omitempty"`
	RemoveDirs []dirJSON    `json:"remove_directories,omitempty"`
	DirModes   []modeJSON   `json:"directory_modes,omitempty"`
	Renames    []renameJSON `json:"renames,omitempty"`
	Keep       []keptJSON   `json:"keep,omitempty"`

	Links  [][]gitstore.Text `json:"links,omitempty"`
	Relink [][]gitstore.Text `json:"relink,omitempty"`
}

type changeJSON struct {
	Path  gitstore.Text `json:"path"`
	From  *stateJSON    `json:"from,omitempty"`
	To    *stateJSON    `json:"to,omitempty"`
	Frees bool          `json:"frees,omitempty"`
	Whole bool          `json:"whole,omitempty"`
}

type stateJSON struct {
	Mode octal          `json:"mode"`
	Blob gitstore.ID    `json:"blob"`
	Perm documents.Perm `json:"perm,omitzero"`

	Kept *attributes.Kept `json:"kept,omitempty"`
}

type dirJSON struct {
	Path  gitstore.Text  `json:"path"`
	Perm  documents.Perm `json:"perm,omitzero"`
	Frees bool           `json:"frees,omitempty"`

	Kept *attributes.Kept `json:"kept,omitempty"`
}

type modeJSON struct {
	Path gitstore.Text `json:"path"`
	From octal         `json:"from"`
	To   octal         `json:"to"`
}

type renameJSON struct {
	From gitstore.Text `json:"from"`
	To   gitstore.Text `json:"to"`
}

type keptJSON struct {
	Path   gitstore.Text `json:"path"`
	Reason Reason        `json:"reason"`
}

// octal is a mode, written as people know them.
type octal uint32

// MarshalText implements encoding.TextMarshaler.
func (o octal) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(o), 8), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *octal) UnmarshalText(data []byte) error {
	n, err := strconv.ParseUint(string(data), 8, 32)
	if err != nil {
		return fmt.Errorf("%q is not a mode", data)
	}
	*o = octal(n)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (p Plan) MarshalJSON() ([]byte, error) {
	doc := planJSON{From: p.From, To: p.To}
	for _, c := range p.Changes {
		doc.Changes = append(doc.Changes, changeJSON{gitstore.Text(c.Path), c.From.encode(), c.To.encode(), c.Frees, c.Whole})
	}
	doc.MakeDirs, doc.RemoveDirs = encodeDirs(p.MakeDirs), encodeDirs(p.RemoveDirs)
	doc.DirModes = encodeModes(p.DirModes)
	for _, r := range p.Renames {
		doc.Renames = append(doc.Renames, renameJSON{gitstore.Text(r.From), gitstore.Text(r.To)})
	}
	for _, k := range p.Keep {
		doc.Keep = append(doc.Keep, keptJSON{gitstore.Text(k.Path), k.Reason})
	}
	doc.Links, doc.Relink = encodeLinks(p.Links), encodeLinks(p.Relink)
	return json.Marshal(doc)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var doc planJSON
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	*p = Plan{From: doc.From, To: doc.To}
	for _, c := range doc.Changes {
		p.Changes = append(p.Changes, Change{string(c.Path), c.From.decode(), c.To.decode(), c.Frees, c.Whole})
	}
	p.MakeDirs, p.RemoveDirs = decodeDirs(doc.MakeDirs), decodeDirs(doc.RemoveDirs)
	p.DirModes = decodeModes(doc.DirModes)
	for _, r := range doc.Renames {
		p.Renames = append(p.Renames, Rename{string(r.From), string(r.To)})
	}
	for _, k := range doc.Keep {
		p.Keep = append(p.Keep, Kept{string(k.Path), k.Reason})
	}
	p.Links, p.Relink = decodeLinks(doc.Links), decodeLinks(doc.Relink)
	return nil
}

func (s *State) encode() *stateJSON {
	if s == nil {
		return nil
	}
	return &stateJSON{octal(s.Mode), s.Blob, s.Perm, s.Kept}
}

func (s *stateJSON) decode() *State {
	if s == nil {
		return nil
	}
	return &State{gitstore.Mode(s.Mode), s.Blob, s.Perm, s.Kept}
}

func encodeLinks(groups [][]string) (out [][]gitstore.Text) {
	for _, group := range groups {
		var list []gitstore.Text
		for _, path := range group {
			list = append(list, gitstore.Text(path))
		}
		out = append(out, list)
	}
	return out
}

func decodeLinks(groups [][]gitstore.Text) (out [][]string) {
	for _, group := range groups {
		var list []string
		for _, path := range group {
			list = append(list, string(path))
		}
		out = append(out, list)
	}
	return out
}

func encodeDirs(list []Directory) (out []dirJSON) {
	for _, d := range list {
		out = append(out, dirJSON{gitstore.Text(d.Path), d.Perm, d.Frees, d.Kept})
	}
	return out
}

func decodeDirs(list []dirJSON) (out []Directory) {
	for _, d := range list {
		out = append(out, Directory{string(d.Path), d.Perm, d.Frees, d.Kept})
	}
	return out
}

func encodeModes(list []DirMode) (out []modeJSON) {
	for _, m := range list {
		out = append(out, modeJSON{gitstore.Text(m.Path), octal(m.From), octal(m.To)})
	}
	return out
}

func decodeModes(list []modeJSON) (out []DirMode) {
	for _, m := range list {
		out = append(out, DirMode{string(m.Path), uint32(m.From), uint32(m.To)})
	}
	return out
}
