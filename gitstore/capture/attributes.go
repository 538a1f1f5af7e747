package capture

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

const attributesName = ".gitattributes"

// conversions tells for which paths Git may keep another content than the file
// has, though of the same size: by the attributes filter, ident and
// working-tree-encoding. Line ends are not of these: their conversion changes
// the size. It asks only whether some line sets such an attribute for the path,
// not whether another takes it back, and so says yes too often, never too
// seldom. See gitattributes(5).
type conversions struct {
	macros map[string]bool
	files  map[string][]attributeLine // by directory, "" being the top level
	above  []attributeLine            // from outside the work tree
	paths  *ignore.Paths              // nil until asked, and where no line matters
	asked  bool
}

// attributeLine is a pattern with the names of the attributes that it sets.
type attributeLine struct {
	pattern string // as of an ignore file
	names   []string
}

func newConversions() *conversions {
	return &conversions{
		macros: map[string]bool{"filter": true, "ident": true, "working-tree-encoding": true},
		files:  map[string][]attributeLine{},
	}
}

// add reads an attribute file of a directory of the work tree.
func (c *conversions) add(dir string, data []byte) {
	c.files[dir] = append(c.files[dir], c.parse(data)...)
}

// outside reads one that holds for the whole work tree.
func (c *conversions) outside(data []byte) { c.above = append(c.above, c.parse(data)...) }

// unknown is for an attribute file that could not be read.
func (c *conversions) unknown(dir string) {
	c.files[dir] = append(c.files[dir], attributeLine{"*", []string{"filter"}})
}

func (c *conversions) parse(data []byte) []attributeLine {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var lines []attributeLine
	for line := range strings.Lines(string(data)) {
		line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, rest := attributePattern(line)
		names := namesSet(rest)
		if macro, ok := strings.CutPrefix(pattern, "[attr]"); ok {
			for _, name := range names {
				c.macros[macro] = c.macros[macro] || c.macros[name]
			}
			continue
		}
		if pattern != "" && len(names) > 0 {
			lines = append(lines, attributeLine{pattern, names})
		}
	}
	return lines
}

// attributePattern takes the pattern off a line, and writes it so that an ignore
// file would mean the same. One that Git does not take is "".
func attributePattern(line string) (pattern, rest string) {
	if line[0] != '"' {
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		if line[0] == '!' {
			return "", "" // negative patterns are forbidden
		}
		return line[:end], line[end:]
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "*", line // whatever it is, it matches
	}
	pattern, err = strconv.Unquote(quoted)
	if err != nil || strings.ContainsAny(pattern, "\n\r\x00") || strings.HasSuffix(pattern, " ") {
		return "*", line[len(quoted):]
	}
	if strings.HasPrefix(pattern, "#") || strings.HasPrefix(pattern, "!") {
		pattern = `\` + pattern
	}
	return pattern, line[len(quoted):]
}

// namesSet are the attributes that a line sets: "name" or "name=value".
func namesSet(rest string) []string {
	var names []string
	for field := range strings.FieldsSeq(rest) {
		if field[0] == '-' || field[0] == '!' {
			continue
		}
		name, _, _ := strings.Cut(field, "=")
		names = append(names, name)
	}
	return names
}

// may tells whether something may be converted. The path is from the top level.
// All files have been added before.
func (c *conversions) may(path string) bool {
	if !c.asked {
		c.asked = true
		c.compile()
	}
	return c.paths != nil && c.paths.Match(path, false).Ignored
}

// compile makes the lists of what matters. Case is folded: a yes too much.
func (c *conversions) compile() {
	lists := map[string]*ignore.List{}
	for dir, lines := range c.files {
		if l := c.list(lines); l != nil {
			lists[dir] = l
		}
	}
	above := c.list(c.above)
	if above == nil && len(lists) == 0 {
		return
	}
	root := ignore.New(above, true, ignore.Files{Git: lists[""]})
	c.paths = ignore.NewPaths(root, func(dir string) ignore.Files { return ignore.Files{Git: lists[dir]} })
}

func (c *conversions) list(lines []attributeLine) *ignore.List {
	var text strings.Builder
	for _, line := range lines {
		for _, name := range line.names {
			if c.macros[name] {
				text.WriteString(line.pattern + "\n")
				break
			}
		}
	}
	return ignore.Parse(attributesName, text.String())
}
