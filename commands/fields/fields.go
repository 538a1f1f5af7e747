// Package fields picks from the result of a command, which is JSON, the fields that its user
// asks for.
package fields

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// Fields are names to pick, in the order in which they are printed. None picks all.
type Fields []string

// Parse reads names that are separated by commas.
func Parse(names string) Fields {
	var f Fields
	for name := range strings.SplitSeq(names, ",") {
		f = append(f, strings.TrimSpace(name))
	}
	return f
}

// Check refuses a field that none of some results can have. Results of which that is not
// known refuse none.
func (f Fields) Check(results ...any) error {
	var known []string
	for _, result := range results {
		names := fieldsOf(reflect.TypeOf(result))
		if len(names) == 0 {
			return nil
		}
		known = append(known, names...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range f {
		if len(known) > 0 && !slices.Contains(known, name) {
			return missions.Errorf(missions.KindUsage, "use some of: "+strings.Join(known, ", "), "--json: there is no field %q here, and nothing was done", name)
		}
	}
	return nil
}

// Write writes them of a result, as indented JSON; of a list, those of each element. A field
// that the result may have and has not is null. One that it can't have is an error that
// names those it can; all is written then, since what the command did is done.
func (f Fields) Write(w io.Writer, result any) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	if len(f) > 0 {
		var picked []byte
		if picked, err = f.pick(text, fieldsOf(reflect.TypeOf(result))); err == nil {
			text = picked
		}
	}
	if _, werr := w.Write(append(text, '\n')); werr != nil {
		return werr
	}
	return err
}

// WriteLine is Write on one line.
func (f Fields) WriteLine(w io.Writer, result any) error {
	var text, line bytes.Buffer
	err := f.Write(&text, result)
	if e := json.Compact(&line, text.Bytes()); err == nil {
		err = e
	}
	line.WriteByte('\n')
	if _, werr := w.Write(line.Bytes()); werr != nil {
		return werr
	}
	return err
}

// pick keeps of an object, or of each in a list, the fields that were asked for, in the
// order in which they were.
func (f Fields) pick(text []byte, known []string) ([]byte, error) {
	var list []map[string]json.RawMessage
	var one map[string]json.RawMessage
	isList := json.Unmarshal(text, &list) == nil
	if !isList {
		if json.Unmarshal(text, &one) != nil {
			return nil, missions.Errorf(missions.KindUsage, "use --json without names", "--json: what this command prints has no fields")
		}
		list = append(list, one)
	}
	for _, object := range list {
		known = slices.AppendSeq(known, maps.Keys(object))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range f {
		if len(known) > 0 && !slices.Contains(known, name) {
			return nil, missions.Errorf(missions.KindUsage, "use some of: "+strings.Join(known, ", "), "--json: there is no field %q here, so all are printed", name)
		}
	}
	objects := make([]string, 0, len(list))
	for _, object := range list {
		objects = append(objects, f.object(object))
	}
	joined := strings.Join(objects, ",")
	if isList {
		joined = "[" + joined + "]"
	}
	var b bytes.Buffer
	err := json.Indent(&b, []byte(joined), "", "  ")
	return b.Bytes(), err
}

func (f Fields) object(from map[string]json.RawMessage) string {
	var pairs []string
	for _, name := range f {
		value, found := from[name]
		if !found {
			value = json.RawMessage("null")
		}
		pairs = append(pairs, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// fieldsOf are the names that a type's values may have in JSON, or those of a list's
// elements.
func fieldsOf(t reflect.Type) []string {
	for t != nil && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array}, t.Kind()) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			names = append(names, fieldsOf(field.Type)...)
		case field.IsExported() && name != "-":
			names = append(names, cmp.Or(name, field.Name))
		}
	}
	return names
}
