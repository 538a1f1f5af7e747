package shadow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/durable"
)

// refs are the refs of a repository. Its methods are the Store's.
type refs struct {
	dir  string // of the repository
	sync *durable.Syncer
	// stored is an error unless the id is that of a commit that is stored.
	stored func(gitstore.ID) error
}

// maxSymbolicDepth is Git's limit on chains of symbolic refs.
const maxSymbolicDepth = 5

// Ref returns the commit that a ref names, through symbolic refs. The error is a
// *RefError wrapping ErrRefNotFound or ErrRefBroken.
func (r *refs) Ref(name gitstore.RefName) (gitstore.ID, error) {
	if err := name.Validate(); err != nil {
		return gitstore.ID{}, err
	}
	at := name
	for range maxSymbolicDepth {
		v, err := r.rawRef(string(at))
		if err != nil {
			return gitstore.ID{}, &gitstore.RefError{Ref: string(name), Err: err}
		}
		if v.symbolic == "" {
			return v.id, nil
		}
		at = v.symbolic
	}
	return gitstore.ID{}, &gitstore.RefError{Ref: string(name), Err: fmt.Errorf("%w: symbolic refs in a circle", gitstore.ErrRefBroken)}
}

// Symbolic returns the ref that the symbolic ref name leads to, existing or
// not. A ref that is not symbolic is ErrRefBroken.
func (r *refs) Symbolic(name gitstore.RefName) (gitstore.RefName, error) {
	if err := name.Validate(); err != nil {
		return "", err
	}
	v, err := r.rawRef(string(name))
	if err == nil && v.symbolic == "" {
		err = fmt.Errorf("%w: it is not symbolic", gitstore.ErrRefBroken)
	}
	if err != nil {
		return "", &gitstore.RefError{Ref: string(name), Err: err}
	}
	return v.symbolic, nil
}

// refValue is what stands in a ref: an id or the name of another ref.
type refValue struct {
	id       gitstore.ID
	symbolic gitstore.RefName
}

func (v refValue) isZero() bool { return v == refValue{} }

func (v refValue) String() string {
	switch {
	case v.symbolic != "":
		return "ref: " + string(v.symbolic)
	case v.id.IsZero():
		return "nothing"
	}
	return v.id.String()
}

func (v refValue) encode() []byte { return []byte(v.String() + "\n") }

// parseRefValue reads a loose ref as Git does: an id ends at white space.
func parseRefValue(data []byte) (refValue, error) {
	if rest, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		target := gitstore.RefName(bytes.TrimSpace(rest))
		if err := target.Validate(); err != nil {
			return refValue{}, fmt.Errorf("%w: %w", gitstore.ErrRefBroken, err)
		}
		return refValue{symbolic: target}, nil
	}
	const n = 2 * gitstore.IDSize
	if len(data) < n || len(data) > n && !isSpace(data[n]) {
		return refValue{}, fmt.Errorf("%w: %q", gitstore.ErrRefBroken, shorten(data))
	}
	id, err := gitstore.ParseID(string(data[:n]))
	if err != nil || id.IsZero() {
		return refValue{}, fmt.Errorf("%w: %q", gitstore.ErrRefBroken, shorten(data))
	}
	return refValue{id: id}, nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func shorten(data []byte) []byte { return data[:min(len(data), 60)] }

// rawRef reads one ref without following it. Loose before packed, and loose
// once more, so that a ref packed meanwhile is seen.
func (r *refs) rawRef(name string) (refValue, error) {
	for range 2 {
		data, err := disk.ReadFile(filepath.Join(r.dir, name))
		if err == nil {
			return parseRefValue(data)
		}
		if !isAbsent(err) {
			return refValue{}, err
		}
		packed, err := r.packedRefs()
		if err != nil {
			return refValue{}, err
		}
		if id, ok := packed.find(name); ok {
			return refValue{id: id}, nil
		}
		if packed.isBad(name) {
			return refValue{}, fmt.Errorf("%w: its line in %s", gitstore.ErrRefBroken, PackedRefsFile)
		}
	}
	return refValue{}, gitstore.ErrRefNotFound
}

// isAbsent also takes a directory in the ref's place, and a file in that of its
// parent: there is no such ref then.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}

// Refs lists the refs of one namespace; "" lists all.
func (r *refs) Refs(kind gitstore.RefKind) (*gitstore.RefList, error) {
	prefix := string(kind)
	if prefix == "" {
		prefix = "refs/"
	}
	loose := map[string]refValue{}
	list := &gitstore.RefList{}
	if err := r.looseRefs(prefix, loose, list); err != nil {
		return nil, err
	}
	packed, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	for _, line := range packed.lines {
		if _, ok := loose[line.name]; !ok && strings.HasPrefix(line.name, prefix) && !list.IsBad(line.name) {
			loose[line.name] = refValue{id: line.id}
		}
	}
	if prefix == "refs/" {
		list.Bad = append(list.Bad, packed.bad...)
	}
	for name, v := range loose {
		r.addRef(list, name, v)
	}
	slices.SortFunc(list.Refs, func(a, b gitstore.Ref) int { return strings.Compare(string(a.Name), string(b.Name)) })
	slices.SortFunc(list.Bad, func(a, b gitstore.RefError) int { return strings.Compare(a.Ref, b.Ref) })
	return list, nil
}

func (r *refs) addRef(list *gitstore.RefList, name string, v refValue) {
	ref, err := gitstore.ParseRefName(name)
	if err != nil {
		list.Bad = append(list.Bad, gitstore.RefError{Ref: name, Err: err})
		return
	}
	id := v.id
	if v.symbolic != "" {
		if id, err = r.Ref(v.symbolic); err != nil {
			list.Bad = append(list.Bad, gitstore.RefError{Ref: name, Err: err})
			return
		}
	}
	list.Refs = append(list.Refs, gitstore.Ref{Name: ref, ID: id, Symbolic: v.symbolic})
}

func (r *refs) looseRefs(prefix string, out map[string]refValue, list *gitstore.RefList) error {
	root := filepath.Join(r.dir, prefix)
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.IsDir() || strings.HasSuffix(path, LockSuffix) {
			return nil
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, r.dir+string(filepath.Separator)))
		data, err := disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		var v refValue
		if err == nil {
			v, err = parseRefValue(data)
		}
		if err != nil {
			list.Bad = append(list.Bad, gitstore.RefError{Ref: name, Err: err})
			return nil
		}
		out[name] = v
		return nil
	})
}
