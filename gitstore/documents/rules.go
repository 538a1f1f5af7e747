package documents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

type text = gitstore.Text

// RulesDocument is rules.json: what was captured and why not. Ignore files
// that the snapshot itself holds are not repeated in it.
type RulesDocument struct {
	Version    int    `json:"version"`
	SizeCap    int64  `json:"size_cap"` // of files that were new then
	FileBudget int    `json:"file_budget"`
	ByteBudget int64  `json:"byte_budget"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Excludes   text   `json:"excludes,omitempty"` // the user's own excludes file
	Above      []Rung `json:"above,omitempty"`    // from the top level down to the workspace's parent
	Name       text   `json:"name,omitempty"`     // of the workspace's directory, if anything is above it
	Exclude    text   `json:"exclude,omitempty"`  // info/exclude, if the workspace is the top level

	Secrets    []string        `json:"secrets"`
	NewSecrets []string        `json:"new_secrets,omitempty"` // besides, of files that were new then
	Nested     []NestedExclude `json:"nested,omitempty"`
	Hidden     []HiddenFile    `json:"hidden,omitempty"`
	Tracked    []text          `json:"tracked,omitempty"`
	Held       []text          `json:"held,omitempty"` // by the snapshot before, though a rule leaves them out
}

// Rung is a directory of the user's repository above the workspace.
type Rung struct {
	Name        text `json:"name,omitempty"` // "" for the top level
	Gitignore   text `json:"gitignore,omitempty"`
	Umbraignore text `json:"umbraignore,omitempty"`
	Exclude     text `json:"exclude,omitempty"` // info/exclude, for the top level
}

// NestedExclude is the top level of another repository inside the workspace.
type NestedExclude struct {
	Path    text `json:"path"`
	Exclude text `json:"exclude,omitempty"`
}

// HiddenFile is an ignore file in force that the snapshot does not hold.
type HiddenFile struct {
	Path    text `json:"path"`
	Content text `json:"content"`
}

// Rules are a snapshot's recorded rules, to be asked what would have been
// captured under them. They are not safe for concurrent use.
type Rules struct {
	doc     *RulesDocument
	outside *Outside
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

// Document is rules.json. It is deterministic.
func (d *RulesDocument) Document() []byte { return encode(d) }

// DecodeRules reads rules.json without a tree. An error is an *Error.
func DecodeRules(data []byte) (*RulesDocument, error) {
	d := &RulesDocument{}
	return d, decode("rules.json", data, d)
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
// is an *Error.
func ParseRules(data []byte, files FileReader) (*Rules, error) {
	doc, err := DecodeRules(data)
	if err != nil {
		return nil, err
	}
	r := &Rules{doc: doc, files: files, nested: map[string]*ignore.List{}, hidden: map[string]string{}}
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
	r.outside = NewOutside(r.doc)
	r.paths = ignore.NewPaths(r.outside.Enter(r.ignoreFiles("")), r.ignoreFiles)
	return r, nil
}

// IgnoresWorkspace tells whether the workspace lies in a directory that the repository
// around it ignores, so that the snapshot holds hardly anything.
func (r *Rules) IgnoresWorkspace() bool { return r.outside.ignoresWorkspace() }

// Eligible tells whether path, being such an entry, would have been captured,
// and the reason if not. It does not know what was skipped because it could not
// be read or was over the budget: a caller asks the snapshot's SkippedSet too.
// An error means that the snapshot's ignore files could not be read: nothing is
// known then.
func (r *Rules) Eligible(path string, c Candidate) (bool, Reason, error) {
	for name := range strings.SplitSeq(path, "/") {
		if NeverCaptured(name) {
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
	if verdict.Ignored && !(tracked && Overridable(verdict)) {
		if c.Mode.IsDir() {
			r.close(path)
		}
		return false, ReasonIgnored, nil
	}
	if c.Mode == gitstore.ModeFile || c.Mode == gitstore.ModeExec {
		dir, name := treepath.Parent(path), treepath.Base(path)
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
func (r *Rules) close(dir string) {
	if r.paths.Dir(treepath.Parent(dir)).MayContainIncluded(treepath.Base(dir)) {
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
func (r *Rules) Held() []string { return r.held }

// Rule is what leaves out a path that is Held, in words.
func (r *Rules) Rule(path string) string {
	v := r.paths.Match(path, false)
	switch {
	case !v.Ignored || !v.Ruled():
		return "the name of a secret"
	case v.Source() == "":
		return v.Rule().Text
	}
	return v.Source() + ": " + v.Rule().Text
}

func (r *Rules) ignoreFiles(dir string) ignore.Files {
	exclude, nested := r.nested[dir]
	return ignore.Files{
		Git:     r.list(treepath.Join(dir, ignore.GitName)),
		Umbra:   r.list(treepath.Join(dir, ignore.UmbraName)),
		Nested:  nested,
		Exclude: exclude,
	}
}

func (r *Rules) list(path string) *ignore.List {
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

// NeverCaptured tells of names that no snapshot holds, whatever the rules.
func NeverCaptured(name string) bool {
	if beneath.IsGitDisguise(name) {
		return true
	}
	_, _, scratch := beneath.ParseScratch(name)
	return scratch
}

// Overridable tells whether the user's repository tracking a path is stronger
// than the verdict that it is ignored: than Git's rules it is, than an
// .umbraignore, which is about Umbra alone, it is not.
func Overridable(v ignore.Verdict) bool {
	return treepath.Base(v.Source()) != ignore.UmbraName
}
