package home

import (
	"bytes"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// LastGoodConfigFile is the text of the user's configuration when it was last read
// well, in the home; empty where there was none.
const LastGoodConfigFile = "config.kept.yml"

// ReadConfig reads the user's configuration for a process that an agent relies on:
// while the file is broken, that is what it said when it was last read well, and
// broken says what is wrong. Err is set where neither can be had.
func (h Home) ReadConfig() (c settings.Config, broken, err error) {
	text, err := settings.Read(h.ConfigFile())
	if err == nil {
		if c, err = settings.Parse(h.ConfigFile(), text); err == nil {
			h.SaveGoodConfig(text)
			return c, nil, nil
		}
	}
	kept, kerr := disk.ReadFile(h.Path(LastGoodConfigFile))
	if kerr != nil {
		return settings.Default(), nil, err
	}
	c, kerr = settings.Parse(h.Path(LastGoodConfigFile), kept)
	if kerr != nil {
		return settings.Default(), nil, err
	}
	return c, err, nil
}

// SaveGoodConfig keeps what was read well, if it is not what is kept already. A home
// that can't be written to keeps nothing, and is of use all the same.
func (h Home) SaveGoodConfig(text []byte) {
	kept, err := disk.ReadFile(h.Path(LastGoodConfigFile))
	if err != nil || !bytes.Equal(kept, text) {
		_ = journal.WriteVolatile(h.Dir, h.Path(LastGoodConfigFile), 0o600, text)
	}
}
