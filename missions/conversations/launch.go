package conversations

import (
	"bytes"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/sessions"
)

// PlaceFile writes a file that an adapter asks for, anew at the next launch: below home,
// where one is given, which is not made.
func PlaceFile(home string, f sessions.File) error {
	var content bytes.Buffer
	if err := f.Write(&content); err != nil {
		return fmt.Errorf("make %s: %w", f.Path, err)
	}
	return journal.WriteVolatile(home, f.Path, f.Mode, content.Bytes())
}
