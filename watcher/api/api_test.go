package api

import (
	"encoding/json"
	"testing"
)

func TestResultLine(t *testing.T) {
	line := ResultLine(json.RawMessage(`{"a":[1,{}]}`))
	var l Line
	if err := json.Unmarshal(line, &l); err != nil || string(l.Result) != `{"a":[1,{}]}` || !l.Last() || line[len(line)-1] != '\n' {
		t.Errorf("%s: %+v %v", line, l, err)
	}
	if cut, ok := CutResult(line); !ok || string(cut) != `{"a":[1,{}]}` {
		t.Errorf("cut %s %v", cut, ok)
	}
	// A line with both is an error.
	both := []byte(`{"result":{"a":1},"error":{"kind":"failed","message":"m"}}` + "\n")
	if cut, ok := CutResult(both); ok && json.Valid(cut) {
		t.Errorf("an error was cut away: %s", cut)
	}
	for _, other := range []string{"", "\n", `{"notice":{}}` + "\n", `{"error":{"kind":"failed"}}` + "\n", `{"result":`} {
		if cut, ok := CutResult([]byte(other)); ok && json.Valid(cut) {
			t.Errorf("%q: cut %s", other, cut)
		}
	}
}
