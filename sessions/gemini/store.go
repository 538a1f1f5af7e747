package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

const (
	filePrefix = "session-"
	fileExt    = ".jsonl"
	shortID    = 8 // characters of the id that the file's name ends with
	ownerFile  = ".project_root"
)

// projectDir is where the client running in cwd keeps what is its own for that
// directory: <root>/tmp/<slug>.
func (a Adapter) projectDir(env sessions.Environ, cwd string) string {
	root := a.Root(env)
	return filepath.Join(root, "tmp", slugOf(root, cwd))
}

// slugOf is the name that the client has given a directory, or would give it
// now, by the same rules: the one in projects.json, unless a marker says that it
// is another directory's; the one whose marker names this directory; else the
// first that is nobody's of base, base-1, base-2 …
// (packages/core/src/config/projectRegistry.ts).
func slugOf(root, cwd string) string {
	given := registered(root)
	if slug, ok := given[cwd]; ok && !taken(root, slug, cwd) {
		return slug
	}
	for _, dir := range bases(root) {
		entries, _ := os.ReadDir(dir) // none, if it can't be read
		for _, e := range entries {
			if owner, marked := ownerOf(filepath.Join(dir, e.Name())); marked && owner == cwd {
				return e.Name()
			}
		}
	}
	used := map[string]bool{}
	for dir, slug := range given {
		used[slug] = used[slug] || dir != cwd
	}
	base := slugify(filepath.Base(cwd))
	for n, slug := 1, base; ; n++ {
		if !used[slug] && !taken(root, slug, cwd) {
			return slug
		}
		slug = base + "-" + strconv.Itoa(n)
	}
}

// bases are the directories in which a slug's directory may be marked.
func bases(root string) []string {
	return []string{filepath.Join(root, "tmp"), filepath.Join(root, "history")}
}

// registered is what projects.json says: directory to slug. A file that can't be
// read says nothing, as for the client.
func registered(root string) map[string]string {
	var registry struct {
		Projects map[string]string `json:"projects"`
	}
	b, err := os.ReadFile(filepath.Join(root, "projects.json"))
	if err != nil || json.Unmarshal(b, &registry) != nil {
		return nil
	}
	for _, slug := range registry.Projects {
		if slug == "" || strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return nil
		}
	}
	return registry.Projects
}

// taken reports whether a slug's directory is marked as another directory's.
func taken(root, slug, cwd string) bool {
	for _, dir := range bases(root) {
		if owner, marked := ownerOf(filepath.Join(dir, slug)); marked && owner != cwd {
			return true
		}
	}
	return false
}

// ownerOf is the directory that a marker names; "" for one that can't be read.
func ownerOf(dir string) (owner string, marked bool) {
	b, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	return strings.TrimSpace(string(b)), true
}

// slugify is a base name in small letters, digits and single dashes. Characters
// count by UTF-16 units, which makes no difference: dashes are joined.
func slugify(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if slug := strings.Trim(b.String(), "-"); slug != "" {
		return slug
	}
	return "project"
}

// Path is the session's file, whose name holds the minute it was begun in. A new
// one is named by its id alone: the client goes by what it says, and by how its
// name begins and ends.
func (a Adapter) Path(env sessions.Environ, cwd, id string) string {
	dir := filepath.Join(a.projectDir(env, cwd), "chats")
	if path := fileOf(dir, id); path != "" {
		return path
	}
	short := id[:min(shortID, len(id))]
	return filepath.Join(dir, filePrefix+strings.TrimPrefix(id[len(short):], "-")+"-"+short+fileExt)
}

// fileOf finds the file of a session that has a conversation; there may be
// others of its id, which a resumption has left with a header alone. "" if there
// is none. The client takes the one that was used last.
func fileOf(dir, id string) string {
	entries, _ := os.ReadDir(dir) // none, if it can't be read
	var found sessions.Session
	for _, e := range entries {
		if !isFileOf(e.Name(), id) {
			continue
		}
		s, err := open(filepath.Join(dir, e.Name()))
		if err == nil && s.ID == id && (found.Path == "" || s.Modified.After(found.Modified)) {
			found = s
		}
	}
	return found.Path
}

// Stored are the files of all directories. A session may have several: the one that was
// used last has its conversation.
func (a Adapter) Stored(env sessions.Environ) iter.Seq[string] {
	return func(yield func(string) bool) {
		tmp := filepath.Join(a.Root(env), "tmp")
		dirs, _ := os.ReadDir(tmp)
		for _, dir := range dirs {
			chats := filepath.Join(tmp, dir.Name(), "chats")
			files, _ := os.ReadDir(chats)
			for _, f := range files {
				is := strings.HasPrefix(f.Name(), filePrefix) && strings.HasSuffix(f.Name(), fileExt) && f.Type().IsRegular()
				if is && !yield(filepath.Join(chats, f.Name())) {
					return
				}
			}
		}
	}
}

// begun reports whether the client running in cwd has a file of that session,
// with a conversation or without.
func (a Adapter) begun(env sessions.Environ, cwd, id string) bool {
	entries, _ := os.ReadDir(filepath.Join(a.projectDir(env, cwd), "chats"))
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isFileOf(e.Name(), id) })
}

// isFileOf reports whether a file's name may be that of a session with an id.
func isFileOf(name, id string) bool {
	short := id[:min(shortID, len(id))]
	return strings.HasPrefix(name, filePrefix) && strings.HasSuffix(name, "-"+short+fileExt)
}

// Open reads a session's identity. ErrNoSession also for a file that says
// nothing the client could resume: it refuses such a one. The working directory
// is the one that the file's own directory is marked with.
func (Adapter) Open(path string) (sessions.Session, error) {
	s, err := open(path)
	if err != nil {
		return s, err
	}
	if owner, marked := ownerOf(filepath.Dir(filepath.Dir(path))); marked {
		s.Cwd = owner
	}
	return s, nil
}

// open is Open, with the working directory that the lines tell.
func open(path string) (sessions.Session, error) {
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return sessions.Session{}, err
	}
	defer f.Close()
	s := sessions.Session{Path: path, Modified: info.ModTime(), Size: info.Size()}
	p := newParser()
	split := jsonlines.Splitter{Line: func(b []byte, start int64) error {
		p.line(b, start, start+int64(len(b))+1)
		if last, _ := p.thread.tail(); last.class != classOther && p.Conv.ID != "" {
			return errFound
		}
		return nil
	}}
	if err := split.Drain(f); err == nil {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	} else if !errors.Is(err, errFound) {
		return sessions.Session{}, err
	}
	s.ID, s.Cwd = p.Conv.ID, p.Conv.Cwd
	return s, nil
}

var errFound = errors.New("found")
