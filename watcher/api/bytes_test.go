package api

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type named string

type document struct {
	Text    string
	Named   named
	List    []string
	Missing []string
	Array   [1]string
	Map     map[named][]string
	Within  *document
	Any     any
	Raw     json.RawMessage `json:",omitempty"`
	Bytes   []byte
	Time    time.Time
	private string
}

// TestEncode: no byte of a string is lost, in whatever it is; what is UTF-8 is plain JSON.
func TestEncode(t *testing.T) {
	for _, s := range []string{
		"", "plain", "é\U0001F600", "\xff", "x\xe4.txt", "d\xc3", "\x80\x80/\xf4\x8f", "\uFFFD", `\ufffd`, "\xed\xa0\x80",
		string(firstByte), string(firstByte + 0xff), string(firstByte - 1), "\xff" + string(firstByte+0x41), "\U0010F000",
	} {
		was := document{
			Text: s, Named: named(s), List: []string{"a", s}, Array: [1]string{s}, Map: map[named][]string{named("k" + s): {s}},
			Within: &document{Text: s}, Any: []any{s}, Raw: json.RawMessage(`["\ufffd"]`), Bytes: []byte(s), Time: time.Unix(1, 0).UTC(),
		}
		text, err := Encode(&was)
		if err != nil {
			t.Fatal(err)
		}
		if was.Text != s || was.Within.Text != s || was.List[1] != s {
			t.Errorf("%q was changed", s)
		}
		var is document
		if err := Decode(text, &is); err != nil {
			t.Fatal(err)
		}
		if s == "" {
			was.Bytes, is.Bytes = nil, nil // JSON has no other
		}
		if !reflect.DeepEqual(is, was) {
			t.Errorf("%q: %s became %+v", s, text, is)
		}
	}
	plain := document{Text: "é\uFFFD", private: "p"}
	want, _ := json.Marshal(plain)
	if got, err := Encode(plain); err != nil || string(got) != string(want) {
		t.Errorf("%s, not %s: %v", got, want, err)
	}
	if got, err := Encode(nil); err != nil || string(got) != "null" {
		t.Errorf("nothing: %s %v", got, err)
	}
	if err := Decode([]byte("junk"), &plain); err == nil {
		t.Error("junk was decoded")
	}
}
