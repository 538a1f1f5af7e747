package capture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/secretnames"
)

type text = gitstore.Text

// rulesDocument is rules.json: what was captured and why not. Ignore files
// that the snapshot itself holds are not repeated in it.
type rulesDocument struct {
	Version    int    `json:"version"`
	SizeCap    int64  `json:"size_cap"` // of files that were new then
	FileBudget int    `json:"file_budget"`
	ByteBudget int64  `json:"byte_budget"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Excludes   text   `json:"excludes,omitempty"` // the user's own excludes file
	Above      []rung `json:"above,omitempty"`    // from the top level down to the workspace's parent
	Name       text   `json:"name,omitempty"`     // of the workspace's directory, if anything is above it
	Exclude    text   `json:"exclude,omitempty"`  // info/exclude, if the workspace is the top level

	Secrets    []string       `json:"secrets"`
	NewSecrets []string       `json:"new_secrets,omitempty"` // besides, of files that were new then
	Nested     []nestedEntry  `json:"nested,omitempty"`
	Hidden     []hiddenIgnore `json:"hidden,omitempty"`
	Tracked    []text         `json:"tracked,omitempty"`
	Held       []text         `json:"held,omitempty"` // by the snapshot before, though a rule leaves them out
}

// rung is a directory of the user's repository above the workspace.
type rung struct {
	Name        text `json:"name,omitempty"` // "" for the top level
	Gitignore   text `json:"gitignore,omitempty"`
	Umbraignore text `json:"umbraignore,omitempty"`
	Exclude     text `json:"exclude,omitempty"` // info/exclude, for the top level
}

// nestedEntry is the top level of another repository inside the workspace.
type nestedEntry struct {
	Path    text `json:"path"`
	Exclude text `json:"exclude,omitempty"`
}

// hiddenIgnore is an ignore file in force that the snapshot does not hold.
type hiddenIgnore struct {
	Path    text `json:"path"`
	Content text `json:"content"`
}

// The names of ignore files.
const (
	gitIgnoreName   = ".gitignore"
	umbraIgnoreName = ".umbraignore"
)

// Recorded is a snapshot's recorded rules, to be asked what would have been
// captured under them. It is not safe for concurrent use.
type Recorded struct {
	doc     rulesDocument
	outside *outside
	secrets secretnames.Patterns
	fresh   secretnames.Patterns
	nested  map[string]*ignore.List
	hidden  map[string]string
	tracked []string // sorted, and so is held
	held    []string
	files   FileReader
	paths   *ignore.Paths
	closed  string // the last directory that was asked of and in which nothing would be captured
	err     error  // of reading an ignore file; sticks
}

// FileReader gives the content of the regular file at a path of a snapshot's
// tree. It reports false only if the tree has no regular file there; what could
// not be read is an error (H3).
type FileReader func(path string) (content []byte, ok bool, err error)

// Candidate is what the question is asked about: a path's entry. The mode is
// that of a tree entry; Size is in bytes, of a regular file.
type Candidate struct {
	Mode gitstore.Mode
	Size int64
}

// ParseRules reads the rules.json of a snapshot whose tree files reads. An error
// is a *DocumentError.
func ParseRules(data []byte, files FileReader) (*Recorded, error) {
	r := &Recorded{files: files, nested: map[string]*ignore.List{}, hidden: map[string]string{}}
	if err := decodeDocument("rules.json", data, &r.doc); err != nil {
		return nil, err
	}
	r.secrets, r.fresh = secretnames.Compile(r.doc.Secrets), secretnames.Compile(r.doc.NewSecrets)
	for _, n := range r.doc.Nested {
		r.nested[string(n.Path)] = ignore.Parse("info/exclude", n.Exclude)
	}
	for _, h := range r.doc.Hidden {
		r.hidden[string(h.Path)] = string(h.Content)
	}
	r.tracked = gitstore.Strings(r.doc.Tracked)
	r.held = gitstore.Strings(r.doc.Held)
	slices.Sort(r.tracked)
	slices.Sort(r.held)
	r.outside = newOutside(&r.doc)
	r.paths = ignore.NewPaths(r.outside.enter(r.ignoreFiles("")), r.ignoreFiles)
	return r, nil
}

// IgnoresWorkspace tells whether the workspace lies in a directory that the repository
// around it ignores, so that the snapshot holds hardly anything.
func (r *Recorded) IgnoresWorkspace() bool { return r.outside.ignoresWorkspace() }

// Eligible tells whether path, being such an entry, would have been captured,
// and the reason if not. It does not know what was skipped because it could not
// be read or was over the budget: a caller asks the snapshot's SkippedSet too.
// An error means that the snapshot's ignore files could not be read: nothing is
// known then.
func (r *Recorded) Eligible(path string, c Candidate) (bool, Reason, error) {
	for name := range strings.SplitSeq(path, "/") {
		if neverCaptured(name) {
			return false, ReasonReserved, nil
		}
	}
	if _, held := slices.BinarySearch(r.held, path); held && !c.Mode.IsDir() {
		return true, "", nil
	}
	if r.closed != "" && strings.HasPrefix(path, r.closed) {
		return false, ReasonIgnored, nil
	}
	_, tracked := slices.BinarySearch(r.tracked, path)
	verdict := r.paths.Match(path, c.Mode.IsDir())
	if r.err != nil {
		return false, "", r.err
	}
	if verdict.Ignored && !(tracked && overridable(verdict)) {
		if c.Mode.IsDir() {
			r.close(path)
		}
		return false, ReasonIgnored, nil
	}
	if c.Mode == gitstore.ModeFile || c.Mode == gitstore.ModeExec {
		dir, name := parentOf(path), baseName(path)
		if !tracked && (r.secrets.Match(dir, name) || r.fresh.Match(dir, name)) {
			return false, ReasonSecret, nil
		}
		if c.Size > r.doc.SizeCap {
			return false, ReasonSize, nil
		}
	}
	return true, "", nil
}

// close remembers an ignored directory in which nothing would be captured: whoever asks of
// it asks of all that is in it next, and ignore files in it need not be read.
func (r *Recorded) close(dir string) {
	if r.paths.Dir(parentOf(dir)).MayContainIncluded(baseName(dir)) {
		return
	}
	dir += "/"
	for _, list := range [][]string{r.tracked, r.held} {
		if at, _ := slices.BinarySearch(list, dir); at < len(list) && strings.HasPrefix(list[at], dir) {
			return
		}
	}
	r.closed = dir
}

// Held are the files, sorted, that were captured though a rule left them out, since
// the snapshot before held them.
func (r *Recorded) Held() []string { return r.held }

// Rule is what leaves out a path that is Held, in words.
func (r *Recorded) Rule(path string) string {
	v := r.paths.Match(path, false)
	switch {
	case !v.Ignored || !v.Ruled():
		return "the name of a secret"
	case v.Source() == "":
		return v.Rule().Text
	}
	return v.Source() + ": " + v.Rule().Text
}

func (r *Recorded) ignoreFiles(dir string) ignore.Files {
	exclude, nested := r.nested[dir]
	return ignore.Files{
		Git:     r.list(join(dir, gitIgnoreName)),
		Umbra:   r.list(join(dir, umbraIgnoreName)),
		Nested:  nested,
		Exclude: exclude,
	}
}

func (r *Recorded) list(path string) *ignore.List {
	if content, ok := r.hidden[path]; ok {
		return ignore.Parse(path, content)
	}
	content, ok, err := r.files(path)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("ignore file %s of the snapshot: %w", path, err)
	}
	if err != nil || !ok {
		return nil
	}
	return ignore.Parse(path, content)
}

// neverCaptured tells of names that no snapshot holds, whatever the rules.
func neverCaptured(name string) bool {
	if beneath.IsGitDisguise(name) {
		return true
	}
	_, _, scratch := beneath.ParseScratch(name)
	return scratch
}

// overridable tells whether the user's repository tracking a path is stronger
// than the verdict that it is ignored: than Git's rules it is, than an
// .umbraignore, which is about Umbra alone, it is not.
func overridable(v ignore.Verdict) bool {
	return baseName(v.Source()) != umbraIgnoreName
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
