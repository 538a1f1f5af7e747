package missions

import (
	"bytes"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// keptConfigFile is the text of the user's configuration when it was last read
// well, in the home; empty where there was none.
const keptConfigFile = "config.kept.yml"

// KeptConfig reads the user's configuration for a process that an agent relies on:
// while the file is broken, that is what it said when it was last read well, and
// broken says what is wrong. Err is set where neither can be had.
func (h Home) KeptConfig() (c Config, broken, err error) {
	text, err := readConfigFile(h.ConfigFile())
	if err == nil {
		if c, err = parseConfig(h.ConfigFile(), text); err == nil {
			h.keepConfig(text)
			return c, nil, nil
		}
	}
	kept, kerr := os.ReadFile(h.path(keptConfigFile))
	if kerr != nil {
		return DefaultConfig(), nil, err
	}
	c, kerr = parseConfig(h.path(keptConfigFile), kept)
	if kerr != nil {
		return DefaultConfig(), nil, err
	}
	return c, err, nil
}

// keepConfig keeps what was read well, if it is not what is kept already. A home
// that can't be written to keeps nothing, and is of use all the same.
func (h Home) keepConfig(text []byte) {
	kept, err := os.ReadFile(h.path(keptConfigFile))
	if err != nil || !bytes.Equal(kept, text) {
		_ = journal.WriteVolatile(h.path(keptConfigFile), 0o600, text)
	}
}
