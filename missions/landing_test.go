package missions

import (
	"encoding/json"
	"testing"
)

// TestLandingNames: a path that is no UTF-8 is the same behind a daemon.
func TestLandingNames(t *testing.T) {
	for _, path := range []string{"a.txt", "ä", "caf\xe9.txt", "\xff/\n"} {
		was := LandingChange{Path: path, To: LandingFile{Mode: "100644", Blob: "1"}}
		text, err := json.Marshal([]LandingChange{was})
		var got []LandingChange
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || len(got) != 1 || got[0] != was {
			t.Errorf("%q is %+v, %v behind a daemon: %s", path, got, err, text)
		}
	}
}
