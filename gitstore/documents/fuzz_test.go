package documents

import (
	"reflect"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// FuzzDocuments reads the documents of a record, which may have come from
// another machine: what is read once is read the same once more.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte(`{"version":1,"ignore_case":true,"secrets":["*.key"],"size_cap":10,"nested":[{"path":"a","exclude":"x"}],"tracked":["b"]}`), "a/b.key")
	f.Add([]byte(`{"version":1,"skipped":[{"path":"a/b","reason":"size","size":3}]}`), "a/b/c")
	f.Add([]byte(`{"version":1,"file":"644","executable":"755","directory":"755","unusual":[{"path":"a","mode":"600"}],"empty":["e"],"links":[["x","y"]]}`), "a")
	none := func(string) ([]byte, bool, error) { return nil, false, nil }
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		if rules, err := ParseRules(data, none); err == nil && path != "" {
			ok, reason, err := rules.Eligible(path, Candidate{Mode: gitstore.ModeFile})
			if err == nil && ok != (reason == "") {
				t.Fatalf("%q is eligible: %v, but for %q", path, ok, reason)
			}
		}
		if skipped, err := ParseSkipped(data); err == nil {
			skipped.Covers(path)
			again, err := ParseSkipped(SkippedDocument(skipped.All()))
			if err != nil || !reflect.DeepEqual(again.All(), skipped.All()) && len(skipped.All()) > 0 {
				t.Fatalf("%v becomes %v, %v", skipped.All(), again, err)
			}
		}
		if modes, err := ParseModes(data); err == nil {
			again, err := ParseModes(modes.Document())
			if err != nil || !reflect.DeepEqual(again.Unusual, modes.Unusual) {
				t.Fatalf("%+v becomes %+v, %v", modes, again, err)
			}
		}
	})
}
