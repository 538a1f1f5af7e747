package shadow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
)

const PackedRefsFile = "packed-refs"

// packedRefs is Git's packed-refs file (gitrepository-layout(5)).
type packedRefs struct {
	header string
	lines  []packedRef
	bad    []gitstore.RefError
	// broken are the texts of the bad lines.
	broken []string
}

type packedRef struct {
	name   string
	id     gitstore.ID
	peeled string
}

// packedRefs reads the file anew each time: it is replaced by rename, small, and
// a cache of it would need a racy-proof test of its own.
func (r *refs) packedRefs() (*packedRefs, error) {
	data, err := disk.ReadFile(filepath.Join(r.dir, PackedRefsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &packedRefs{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePackedRefs(data), nil
}

// parsePackedRefs keeps every good line; a bad one is reported by its number.
func parsePackedRefs(data []byte) *packedRefs {
	p := &packedRefs{}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimRight(string(line), "\r\n")
		bad := func() {
			p.broken = append(p.broken, text)
			p.bad = append(p.bad, gitstore.RefError{
				Ref: fmt.Sprintf("%s line %d", PackedRefsFile, n),
				Err: fmt.Errorf("%w: %q", gitstore.ErrRefBroken, shorten([]byte(text))),
			})
		}
		switch {
		case text == "":
		case text[0] == '#':
			if n == 1 {
				p.header = text
			}
		case text[0] == '^':
			if _, err := gitstore.ParseID(text[1:]); err != nil || len(p.lines) == 0 {
				bad()
				continue
			}
			p.lines[len(p.lines)-1].peeled = text[1:]
		default:
			hex, name, ok := strings.Cut(text, " ")
			id, err := gitstore.ParseID(hex)
			if !ok || err != nil || id.IsZero() || !strings.HasPrefix(name, "refs/") {
				bad()
				continue
			}
			p.lines = append(p.lines, packedRef{name: name, id: id})
		}
	}
	return p
}

func (p *packedRefs) find(name string) (gitstore.ID, bool) {
	for _, l := range p.lines {
		if l.name == name {
			return l.id, true
		}
	}
	return gitstore.ID{}, false
}

// isBad reports whether a bad line seems to be about name, so that a ref that
// could not be read is not taken for one that does not exist (H3).
func (p *packedRefs) isBad(name string) bool {
	return slices.ContainsFunc(p.broken, func(line string) bool { return strings.HasSuffix(line, " "+name) })
}

// with gives the file's content with refs set, and left out where the id is zero. Peeled ids
// are kept with their lines.
func (p *packedRefs) with(refs map[gitstore.RefName]gitstore.ID) []byte {
	lines := slices.DeleteFunc(slices.Clone(p.lines), func(l packedRef) bool { _, is := refs[gitstore.RefName(l.name)]; return is })
	for name, id := range refs {
		if !id.IsZero() {
			lines = append(lines, packedRef{name: string(name), id: id})
		}
	}
	slices.SortFunc(lines, func(a, b packedRef) int { return strings.Compare(a.name, b.name) })
	return p.encode(lines)
}

// without gives the file's content with one ref left out.
func (p *packedRefs) without(name string) []byte {
	return p.encode(slices.DeleteFunc(slices.Clone(p.lines), func(l packedRef) bool { return l.name == name }))
}

func (p *packedRefs) encode(lines []packedRef) []byte {
	var b bytes.Buffer
	if p.header != "" {
		fmt.Fprintf(&b, "%s\n", p.header)
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\n", l.id, l.name)
		if l.peeled != "" {
			fmt.Fprintf(&b, "^%s\n", l.peeled)
		}
	}
	return b.Bytes()
}
