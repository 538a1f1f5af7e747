package standin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A tool is what a client offers, in the words that the services share.
type tool struct {
	Name   string
	Schema schema
}

// schema is as much of JSON Schema as a required field needs.
type schema struct {
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []json.RawMessage `json:"enum"`
	Items      *schema           `json:"items"`
}

// names are what clients call the tool of a kind, and fields what they call its
// fields, in lower case and in the order to look them up.
var names = map[string][]string{
	kindWrite: {"write", "write_file", "create"},
	kindEdit:  {"edit", "replace"},
	kindRead:  {"read", "read_file", "view"},
	kindBash:  {"bash", "shell", "run_shell_command", "exec_command"},
}

var fields = map[string][]string{
	"path":    {"file_path", "path", "filepath", "absolute_path"},
	"content": {"content", "file_text"},
	"old":     {"old_string", "oldstring", "old_str"},
	"new":     {"new_string", "newstring", "new_str"},
	"cmd":     {"command", "cmd"},
}

// bind turns a scripted call into one of a tool that the client offers, whose
// other required fields are filled with something harmless.
func bind(call Call, tools []tool) (Call, error) {
	wanted, isKind := names[call.Name]
	if !isKind {
		return call, nil
	}
	at := slices.IndexFunc(tools, func(t tool) bool { return slices.Contains(wanted, strings.ToLower(t.Name)) })
	if at < 0 {
		return Call{}, fmt.Errorf("the client offers no tool to %s", call.Name)
	}
	offered := tools[at]
	var given map[string]string
	if err := json.Unmarshal(call.Input, &given); err != nil {
		return Call{}, err
	}
	input := map[string]any{}
	for name, value := range given {
		field := offered.Schema.field(name)
		if field == "" {
			return Call{}, fmt.Errorf("%s has no field for %s", offered.Name, name)
		}
		input[field] = value
	}
	for _, name := range offered.Schema.Required {
		if _, ok := input[name]; !ok {
			input[name] = offered.Schema.Properties[name].harmless()
		}
	}
	data, err := json.Marshal(input)
	if err != nil {
		return Call{}, err
	}
	return Call{Name: offered.Name, Input: data}, nil
}

// field is what the schema calls a scripted field, or nothing.
func (s schema) field(scripted string) string {
	for _, candidate := range append(fields[scripted], strings.ToLower(scripted)) {
		for name := range s.Properties {
			if strings.ToLower(name) == candidate {
				return name
			}
		}
	}
	return ""
}

// harmless is a value that the schema allows.
func (s schema) harmless() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind, _ := s.Type.(string)
	switch kind {
	case "object":
		object := map[string]any{}
		for _, name := range s.Required {
			object[name] = s.Properties[name].harmless()
		}
		return object
	case "array":
		return []any{}
	case "boolean":
		return false
	case "integer", "number":
		return 1
	default:
		return "stand-in"
	}
}
