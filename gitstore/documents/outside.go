package documents

import "github.com/umbra-vcs/umbra/gitstore/ignore"

// Outside is the ignore rules that come from outside the workspace. It is
// immutable.
type Outside struct {
	global     *ignore.List
	exclude    *ignore.List
	ignoreCase bool
	parent     *ignore.Matcher // of the directory above; nil if the workspace is the top level
	name       string          // the workspace's in it
}

// NewOutside parses the rules that are recorded of outside.
func NewOutside(doc *RulesDocument) *Outside {
	o := &Outside{
		global:     ignore.Parse("excludes", doc.Excludes),
		exclude:    ignore.Parse("info/exclude", doc.Exclude),
		ignoreCase: doc.IgnoreCase,
		name:       string(doc.Name),
	}
	for i, rung := range doc.Above {
		files := ignore.Files{
			Git:   ignore.Parse(ignore.GitName, rung.Gitignore),
			Umbra: ignore.Parse(ignore.UmbraName, rung.Umbraignore),
		}
		if i == 0 {
			files.Exclude = ignore.Parse("info/exclude", rung.Exclude)
			o.parent = ignore.New(o.global, o.ignoreCase, files)
			continue
		}
		o.parent = o.parent.Enter(string(rung.Name), files)
	}
	return o
}

// ignoresWorkspace tells whether a rule from outside ignores the workspace itself.
func (o *Outside) ignoresWorkspace() bool {
	return o.parent != nil && o.parent.Match(o.name, true).Ignored
}

// Enter is the matcher of the workspace's root, which has these ignore files.
func (o *Outside) Enter(files ignore.Files) *ignore.Matcher {
	if o.parent == nil {
		files.Exclude = o.exclude
		return ignore.New(o.global, o.ignoreCase, files)
	}
	return o.parent.Enter(o.name, files)
}
