package usergit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Head is what HEAD names.
type Head struct {
	Ref string // the full name of the ref HEAD stands for; "" if detached
	ID  ID     // zero on a branch without a commit yet
}

// Branch is the short name of the branch, "" if HEAD is detached or names
// something that is no branch.
func (h Head) Branch() string {
	branch, _ := strings.CutPrefix(h.Ref, "refs/heads/")
	if branch == h.Ref {
		return ""
	}
	return branch
}

// Unborn tells whether HEAD names a ref that does not exist yet.
func (h Head) Unborn() bool { return h.ID.IsZero() }

// Head reads HEAD and the ref it names. For a repository with reftable it
// returns an UnsupportedError.
func (r *Repository) Head() (Head, error) {
	if r.RefTable {
		return Head{}, &UnsupportedError{Path: r.CommonDir, What: "reftable"}
	}
	if err := r.check(); err != nil {
		return Head{}, err
	}
	var h Head
	name := "HEAD"
	// Git follows at most five symbolic refs.
	for range 6 {
		target, id, err := r.readRef(name)
		switch {
		case err != nil:
			return Head{}, err
		case target == "":
			h.ID = id
			return h, nil
		}
		h.Ref, name = target, target
	}
	return Head{}, &DamagedError{Path: filepath.Join(r.GitDir, "HEAD"), Why: "symbolic refs without end"}
}

// readRef gives what a symbolic ref names, or else the id; both are zero if
// the ref does not exist.
func (r *Repository) readRef(name string) (target string, id ID, err error) {
	target, id, err = r.readLoose(name)
	if target != "" || !id.IsZero() || err != nil || name == "HEAD" {
		return target, id, err
	}
	id, err = r.readPacked(name)
	if !id.IsZero() || err != nil {
		return "", id, err
	}
	// The ref may have been unpacked, or packed and updated, in between.
	return r.readLoose(name)
}

func (r *Repository) readLoose(name string) (target string, id ID, err error) {
	dir := r.CommonDir
	if name == "HEAD" || perWorktree(name) {
		dir = r.GitDir
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if link, err := os.Readlink(path); err == nil && validRef(link) {
		return link, ID{}, nil
	}
	data, err := ReadFile(path, maxPointer)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return "", ID{}, nil
	}
	if err != nil {
		return "", ID{}, err
	}
	text := strings.TrimRight(string(data), " \t\r\n")
	if after, ok := strings.CutPrefix(text, "ref:"); ok {
		target = strings.TrimLeft(after, " \t")
		if !validRef(target) {
			return "", ID{}, &DamagedError{Path: path, Why: "names no ref"}
		}
		return target, ID{}, nil
	}
	if len(text) > 2*r.Format.Size() && strings.ContainsAny(text[2*r.Format.Size():][:1], " \t\n") {
		text = text[:2*r.Format.Size()] // FETCH_HEAD and its like say more
	}
	id, err = r.parseID(text)
	if err != nil {
		return "", ID{}, &DamagedError{Path: path, Why: err.Error()}
	}
	return "", id, nil
}

func (r *Repository) readPacked(name string) (ID, error) {
	path := filepath.Join(r.CommonDir, "packed-refs")
	f, _, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ID{}, nil
	}
	if err != nil {
		return ID{}, err
	}
	defer f.Close()
	suffix := []byte(" " + name)
	lines := bufio.NewReaderSize(f, 64<<10)  // what is longer is no line of a ref
	for more, within := true, false; more; { // within such a longer one
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && err != io.EOF {
			return ID{}, err
		}
		rest := within
		more, within = err != io.EOF, errors.Is(err, bufio.ErrBufferFull)
		if rest || within {
			continue
		}
		line = bytes.TrimSuffix(line, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if !bytes.HasSuffix(line, suffix) || len(line) != 2*r.Format.Size()+len(suffix) {
			continue
		}
		id, err := r.parseID(string(line[:len(line)-len(suffix)]))
		if err != nil {
			return ID{}, &DamagedError{Path: path, Why: err.Error()}
		}
		return id, nil
	}
	return ID{}, nil
}

func (r *Repository) parseID(text string) (ID, error) {
	id, err := ParseID(text)
	if err == nil && int(id.size) != r.Format.Size() {
		return ID{}, errors.New("an object id of the other format")
	}
	return id, err
}

// perWorktree tells whether each worktree has its own ref of this name; see
// git-worktree(1), "REFS".
func perWorktree(name string) bool {
	for _, prefix := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// validRef keeps a damaged or hostile HEAD from naming files elsewhere.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.ContainsAny(name, "\x00\n\\ ") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || strings.Contains(part, "..") {
			return false
		}
	}
	return true
}

// shallow lists the commits whose parents a shallow repository does not have.
func (r *Repository) shallow() (map[ID]bool, error) {
	path := filepath.Join(r.CommonDir, "shallow")
	data, err := ReadFile(path, MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	boundary := map[ID]bool{}
	for line := range strings.FieldsSeq(string(data)) {
		id, err := r.parseID(line)
		if err != nil {
			return nil, &DamagedError{Path: path, Why: err.Error()}
		}
		boundary[id] = true
	}
	return boundary, nil
}
