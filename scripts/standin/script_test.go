package standin

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestScript(t *testing.T) {
	call := func(name, input string) Call { return Call{Name: name, Input: json.RawMessage(input)} }
	write := call("write", `{"content":"two\n]] lines","path":"a b.txt"}`)
	bash := call("bash", `{"cmd":"ls"}`)
	for prompt, want := range map[string][]Step{
		"hello":                              {{Text: "ok"}},
		"please [[say fine weather]] thanks": {{Text: "fine weather"}},
		"[[say a]] [[say b]]":                {{Text: "a\nb"}},
		"[[write path=\"a b.txt\" content=\"two\\n]] lines\"]]": {{Calls: []Call{write}}, {Text: "done"}},
		"[[bash cmd=ls]] [[bash cmd=`ls`]] [[say end]]":         {{Calls: []Call{bash}}, {Calls: []Call{bash}}, {Text: "end"}},
		"[[bash cmd=ls]] [[parallel]] [[bash cmd=ls]]":          {{Calls: []Call{bash, bash}}, {Text: "done"}},
		"[[say first]] [[bash cmd=ls]]":                         {{Text: "first", Calls: []Call{bash}}, {Text: "done"}},
		"[[bash cmd=ls]] [[wait go]] [[say end]]":               {{Calls: []Call{bash}}, {Wait: "go", Text: "end"}},
		"[[sleep 2s]]":                         {{Sleep: 2 * time.Second, Text: "done"}},
		"[[fail 400 no such luck]]":            {{Fail: 400, Error: "no such luck", Text: "done"}},
		"[[think hm]] [[say so]]":              {{Thinking: "hm", Text: "so"}},
		`[[tool name=Task input="{\"a\":1}"]]`: {{Calls: []Call{call("Task", `{"a":1}`)}}, {Text: "done"}},
	} {
		got, err := Script(prompt)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Script(%q) = %+v, %v, want %+v", prompt, got, err, want)
		}
	}
}

func TestScriptRefuses(t *testing.T) {
	for prompt, want := range map[string]string{
		"[[jump]]":                    "unknown directive",
		"[[say no end":                "no ]] at its end",
		"[[]]":                        "empty",
		"[[sleep long]]":              "invalid duration",
		"[[write path]]":              "not name=value",
		"[[write path=\"a]]":          "a quote does not end",
		"[[tool name=Task input={]]":  "want name=TOOL input=JSON",
		"[[fail 7]]":                  "no HTTP status",
		"[[fail]]":                    "invalid syntax",
		"[[tool input=\"{}\"]]":       "want name=TOOL",
		"[[bash cmd=ls]] [[sleep 1]]": "missing unit",
	} {
		if got, err := Script(prompt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Script(%q) = %+v, %v, want error %q", prompt, got, err, want)
		}
	}
}

// TestAt counts results in: a client sends those of one answer together.
func TestAt(t *testing.T) {
	steps, err := Script("[[bash cmd=1]] [[parallel]] [[bash cmd=2]] [[say then]] [[bash cmd=3]] [[say end]]")
	if err != nil {
		t.Fatal(err)
	}
	for results, want := range []Step{steps[0], steps[0], steps[1], steps[2], steps[2]} {
		if got := at(steps, results); !reflect.DeepEqual(got, want) {
			t.Errorf("at(%d) = %+v, want %+v", results, got, want)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add("[[write path=\"a\" content=`b`]] [[parallel]] [[say c]]")
	f.Add("[[ [[ ]] =\"")
	f.Fuzz(func(t *testing.T, prompt string) {
		steps, err := Script(prompt)
		if err != nil {
			return
		}
		if last := steps[len(steps)-1]; len(last.Calls) > 0 {
			t.Errorf("Script(%q) never ends its turn", prompt)
		}
	})
}
