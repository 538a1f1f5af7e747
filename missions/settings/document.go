package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is a configuration file: two levels of YAML.
type document struct {
	keys   []Key
	root   *yaml.Node // the mapping of sections, nil in a file that says nothing
	places map[string]place
	wrong  []fault
}

// fault is what is wrong on a line.
type fault struct {
	line int
	text string
}

// place is where a file says a key.
type place struct {
	key, value *yaml.Node
}

// readConfig puts what a file says into a Config, and returns the lines of its
// keys. Whatever is wrong is in the error, with its line; the Config may then
// have some of the file's values.
func readConfig(p []byte, keys []Key, into *Config) (lines map[string]int, err error) {
	d, err := parseDocument(p, keys)
	if err != nil {
		return nil, err
	}
	lines = map[string]int{}
	for name, place := range d.places {
		lines[name] = place.key.Line
	}
	for _, k := range keys {
		if place, ok := d.places[k.Name]; ok {
			d.take(k, place, into)
		}
	}
	return lines, d.problem()
}

// parseDocument finds the keys in a file. Only what is no YAML is an error.
func parseDocument(p []byte, keys []Key) (*document, error) {
	d := &document{keys: keys, places: map[string]place{}}
	decoder := yaml.NewDecoder(bytes.NewReader(p))
	var doc, second yaml.Node
	if err := decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&second); err == nil {
		d.bad(&second, "a second document")
	}
	if len(doc.Content) == 0 {
		return d, nil
	}
	root := doc.Content[0]
	if isNull(root) {
		return d, nil
	}
	d.root = root
	if !d.mapping(root, "the file") {
		return d, nil
	}
	for key, value := range pairs(root) {
		d.section(key, value)
	}
	return d, nil
}

// section takes in one section of the file.
func (d *document) section(key, value *yaml.Node) {
	known := keysOf(d.keys, key.Value)
	if len(known) == 0 {
		d.unknown(key, key.Value, d.keys)
		return
	}
	if isNull(value) {
		return
	}
	if !d.mapping(value, key.Value) {
		return
	}
	for k, v := range pairs(value) {
		name := key.Value + "." + k.Value
		before, twice := d.places[name]
		switch {
		case !has(known, name):
			d.unknown(k, name, known)
		case twice:
			d.bad(k, "%s is said already in line %d", name, before.key.Line)
		default:
			d.places[name] = place{k, v}
		}
	}
}

// keysOf are the keys of a section.
func keysOf(keys []Key, section string) []Key {
	var list []Key
	for _, k := range keys {
		if strings.HasPrefix(k.Name, section+".") {
			list = append(list, k)
		}
	}
	return list
}

func has(keys []Key, name string) bool {
	for _, k := range keys {
		if k.Name == name {
			return true
		}
	}
	return false
}

// unknown says that nothing is called name, and what may have been meant.
func (d *document) unknown(n *yaml.Node, name string, keys []Key) {
	said := fmt.Sprintf("unknown key %q", n.Value)
	switch like := nearest(name, keys); {
	case has(Keys(), name), len(keysOf(Keys(), name)) > 0:
		said += ": only your own configuration may say it"
	case like != "" && strings.Contains(name, "."):
		said += ", did you mean " + like + "?"
	}
	d.bad(n, "%s", said)
}

func (d *document) bad(n *yaml.Node, format string, args ...any) {
	d.wrong = append(d.wrong, fault{n.Line, fmt.Sprintf(format, args...)})
}

// mapping reports whether a node is one, and says it if it is not.
func (d *document) mapping(n *yaml.Node, what string) bool {
	if n.Kind == yaml.MappingNode {
		return true
	}
	d.bad(n, "%s must hold keys and values", what)
	return false
}

// take puts one value of the file into a Config.
func (d *document) take(k Key, at place, into *Config) {
	if isNull(at.value) {
		return
	}
	words, ok := wordsOf(at.value)
	if !ok || !k.many() && resolved(at.value).Kind != yaml.ScalarNode {
		d.bad(at.value, "%s takes %s, not %s", k.Name, k.takes(), shapeOf(k, resolved(at.value)))
		return
	}
	value, err := k.parse(words)
	if err != nil {
		d.bad(at.value, "%s %v", k.Name, err)
		return
	}
	k.put(into, value)
}

// shapeOf names what is no value of the key, for people.
func shapeOf(k Key, n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case k.many():
		return "a list of something else"
	}
	return "a list"
}

// problem is all that is wrong, in the order of the lines.
func (d *document) problem() error {
	if len(d.wrong) == 0 {
		return nil
	}
	slices.SortStableFunc(d.wrong, func(a, b fault) int { return a.line - b.line })
	var said []string
	for _, w := range d.wrong {
		said = append(said, fmt.Sprintf("line %d: %s", w.line, w.text))
	}
	return errors.New(strings.Join(said, "; "))
}

// wordsOf are the scalars of a scalar or a sequence.
func wordsOf(n *yaml.Node) ([]string, bool) {
	n = resolved(n)
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}, true
	case yaml.SequenceNode:
		words := []string{}
		for _, item := range n.Content {
			item = resolved(item)
			if item.Kind != yaml.ScalarNode || isNull(item) {
				return nil, false
			}
			words = append(words, item.Value)
		}
		return words, true
	}
	return nil, false
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = resolved(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// pairs walks a mapping.
func pairs(n *yaml.Node) func(func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}
