package mcp

import (
	"bytes"
	"io"
	"testing"
)

// FuzzStream: the SDK is given messages alone, whatever an agent writes, and each line that
// is none is answered.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n", "[]", "garbage\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", `[{"jsonrpc":"2.0","method":"x"}]`,
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\r\n3\n", `{"jsonrpc":"2.0","id":{},"method":"x"}`, "\xff\xfe",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		var answered bytes.Buffer
		passed, err := io.ReadAll(newStream(t.Context(), bytes.NewReader(said), &answered))
		if err != nil {
			t.Fatal(err)
		}
		good, bad := 0, bytes.Count(answered.Bytes(), []byte("\n"))
		for line := range bytes.Lines(passed) {
			if good++; !isMessage(bytes.TrimSpace(line)) {
				t.Errorf("%q is passed on", line)
			}
		}
		lines := 0
		for line := range bytes.Lines(said) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines++
			}
		}
		if good+bad != lines {
			t.Errorf("of %d lines %d were passed on, and %d answered", lines, good, bad)
		}
	})
}
