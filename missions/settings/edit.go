package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/umbra-vcs/umbra/missions/userfile"
)

// errByHand is the answer for a file that is written in a way in which one key
// can't be changed without touching more.
var errByHand = errors.New("the file is written in a way that only a person can change")

// fileMode is the mode of a configuration file that is new.
const fileMode = 0o600

// Set writes one key into a configuration file, which it makes if it is
// missing; no words unset the key. Every other line of the file stays as it is,
// to the byte. project says that it is a project's own file.
func Set(file string, key Key, words []string, project bool) error {
	keys := Keys()
	if project {
		keys = projectKeys()
		if !key.Project {
			return wrong("leave out --project", "%s is the user's own to say: a project's file may only narrow capture", key.Name)
		}
	}
	var value any
	if words != nil {
		var err error
		if value, err = key.parse(words); err != nil {
			return wrong("umbra config set "+key.Name+" "+key.shown(), "%s %w", key.Name, err)
		}
	}
	if _, err := Read(file); err != nil { // with what to do about it
		return err
	}
	_, err := userfile.Change(file, fileMode, func(before []byte) ([]byte, error) {
		after, err := changed(before, keys, key, value)
		switch {
		case errors.Is(err, errByHand):
			return nil, conflict("umbra config edit", "%s: %w", file, err)
		case err != nil:
			return nil, wrong("umbra config edit", "%s: %w", file, err)
		case bytes.Equal(before, after):
			return before, nil // there is no need of an empty file
		}
		return after, nil
	})
	return err
}

// changed is the text of a file with another value of one key; nil is none. It
// is proved to say that, and nothing else that it did not say before.
func changed(before []byte, keys []Key, key Key, value any) ([]byte, error) {
	want := Default()
	if _, err := readConfig(before, keys, &want); err != nil {
		return nil, err
	}
	d, err := parseDocument(before, keys)
	if err != nil {
		return nil, err
	}
	e := edit{d: d, key: key, lines: strings.SplitAfter(string(before), "\n"), end: "\n"}
	if strings.Contains(string(before), "\r\n") {
		e.end = "\r\n"
	}
	if value == nil {
		key.put(&want, zeroOf(key))
		err = e.unset()
	} else {
		key.put(&want, value)
		err = e.set(value)
	}
	if err != nil {
		return nil, err
	}
	after := []byte(strings.Join(e.lines, ""))
	got := Default()
	if _, err := readConfig(after, keys, &got); err != nil || !reflect.DeepEqual(got, want) {
		return nil, errByHand
	}
	return after, nil
}

// zeroOf is a key's default, as put takes it.
func zeroOf(key Key) any {
	c := Default()
	return reflect.ValueOf(key.field(&c)).Elem().Interface()
}

// edit changes the lines of a file.
type edit struct {
	d     *document
	key   Key
	lines []string
	end   string // of a line
}

// set says the key: in its place, in its section, or in a section of its own at
// the end.
func (e *edit) set(value any) error {
	text, err := yamlText(e.key, value)
	if err != nil {
		return err
	}
	section, name, _ := strings.Cut(e.key.Name, ".")
	said := name + ": " + text
	if at, ok := e.d.places[e.key.Name]; ok {
		return e.replace(at, said)
	}
	if header, body := e.section(section); header != nil {
		indent := header.Column + 1
		switch {
		case isNull(body):
		case body.Style&yaml.FlowStyle != 0 || body.Kind != yaml.MappingNode:
			return errByHand
		default:
			indent = body.Content[0].Column - 1
		}
		e.insert(header.Line, strings.Repeat(" ", indent)+said)
		return nil
	}
	if e.d.root != nil && (e.d.root.Style&yaml.FlowStyle != 0 || e.d.root.Column != 1) {
		return errByHand
	}
	e.insert(len(e.lines), section+":", "  "+said)
	return nil
}

// replace puts other words where a file says a key.
func (e *edit) replace(at place, said string) error {
	first, last := at.key.Line-1, lastLine(at.value)-1
	indent, ok := e.indent(at)
	if !ok {
		return errByHand
	}
	if comment := at.value.LineComment; comment != "" && last == first {
		said += "  " + comment
	}
	ends := e.end
	if last == len(e.lines)-1 && !strings.HasSuffix(e.lines[last], "\n") {
		ends = ""
	}
	e.lines = slices.Replace(e.lines, first, last+1, indent+said+ends)
	return nil
}

// indent is what stands before a key on its line; ok is false if that is more
// than blanks.
func (e *edit) indent(at place) (blanks string, ok bool) {
	line := e.lines[at.key.Line-1]
	blanks = line[:min(len(line), at.key.Column-1)]
	return blanks, strings.TrimSpace(blanks) == ""
}

// unset takes the key's lines out.
func (e *edit) unset() error {
	at, ok := e.d.places[e.key.Name]
	if !ok {
		return nil
	}
	if _, alone := e.indent(at); !alone {
		return errByHand
	}
	first, last := at.key.Line-1, lastLine(at.value)
	if section, _, _ := strings.Cut(e.key.Name, "."); e.onlyLine(section, first, last) {
		first--
	}
	e.lines = slices.Delete(e.lines, first, last)
	return nil
}

// onlyLine reports whether lines [first, last) are all that a section holds below
// its name, comments too.
func (e *edit) onlyLine(section string, first, last int) bool {
	header, body := e.section(section)
	if header.Line != first || len(body.Content) > 2 || strings.TrimSpace(e.lines[first-1]) != section+":" {
		return false
	}
	return last >= len(e.lines) || !strings.HasPrefix(e.lines[last], " ") || strings.TrimSpace(e.lines[last]) == ""
}

// insert puts lines after the nth.
func (e *edit) insert(n int, lines ...string) {
	n = min(n, len(e.lines))
	if n > 0 && e.lines[n-1] != "" && !strings.HasSuffix(e.lines[n-1], "\n") {
		e.lines[n-1] += e.end
	}
	for i := range lines {
		lines[i] += e.end
	}
	e.lines = slices.Insert(e.lines, n, lines...)
}

// section finds a section of the file.
func (e *edit) section(name string) (header, body *yaml.Node) {
	if e.d.root == nil {
		return nil, nil
	}
	for k, v := range pairs(e.d.root) {
		if k.Value == name {
			return k, v
		}
	}
	return nil, nil
}

// lastLine is the last line on which a node begins something.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// yamlText is a value on one line.
func yamlText(key Key, value any) (string, error) {
	var c Config
	key.put(&c, value)
	words := key.words(c)
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, w := range words {
		item := &yaml.Node{}
		item.SetString(w)
		if strings.ContainsAny(w, "\n\r") {
			item.Style = yaml.DoubleQuotedStyle
		}
		node.Content = append(node.Content, item)
	}
	if !key.many() {
		if node = node.Content[0]; key.Kind() != "text" {
			return words[0], nil
		}
	}
	p, err := yaml.Marshal(node)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key.Name, err)
	}
	text := strings.TrimRight(string(p), "\n")
	if strings.Contains(text, "\n") {
		return "", errByHand
	}
	return text, nil
}

// Replace replaces a configuration file with a text that Check has
// nothing to say against. before is what the file held when the text was begun,
// nil if there was none: one that others have changed since is left as it is.
func Replace(file string, before, text []byte) error {
	_, err := userfile.Change(file, fileMode, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, before) {
			return nil, conflict("umbra config edit begins with what is there now", "%s was changed meanwhile: nothing was written", file)
		}
		return append([]byte{}, text...), nil // never nil: the file stays, also with nothing in it
	})
	return err
}
