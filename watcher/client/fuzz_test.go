package client

import (
	"bytes"
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// FuzzAnswer: an answer ends in a result or in an error, whoever wrote it.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"notice":{"text":"x"}}` + "\n" + `{"result":{"done":true}}` + "\n"))
	f.Add([]byte(`{"error":{"kind":"conflict","message":"m"}}` + "\n"))
	f.Add([]byte(`{"result":nul`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		var result missions.RestoreResult
		err := readAnswer(context.Background(), bytes.NewReader(answer), &result)
		if err == nil && !bytes.ContainsRune(answer, '\n') {
			t.Fatalf("%q is an answer without an end", answer)
		}
	})
}
