package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// TrashedBeside is where an entry of the trash says that a directory is, which was on another
// file system and was moved beside its place; "" for any other entry.
func TrashedBeside(entry string) string {
	place := placeBeside(entry)
	if st, err := os.Lstat(place); err != nil || !st.IsDir() {
		return ""
	}
	return place
}

// TrashedAway is where such a directory was, if its file system is not mounted: it is not
// there, and its place is none or on the file system of the trash.
func TrashedAway(entry string) string {
	place := placeBeside(entry)
	if place == "" {
		return ""
	}
	if _, err := os.Lstat(place); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	around, err := os.Lstat(filepath.Dir(place))
	here, err2 := os.Lstat(filepath.Dir(entry))
	if err == nil && err2 == nil && IdentityOf(around).Device != IdentityOf(here).Device {
		return ""
	}
	return place
}

// placeBeside is where an entry leads. The entry is a link, and is believed only if the
// name at its end is one that Umbra alone gives.
func placeBeside(entry string) string {
	place, err := os.Readlink(entry)
	if err != nil || !filepath.IsAbs(place) {
		return ""
	}
	if _, _, ours := beneath.ParseScratch(filepath.Base(place)); !ours {
		return ""
	}
	return place
}

// TrashedElsewhere lists the directories of the trash that are on other file systems.
func (h Home) TrashedElsewhere() []string {
	var list []string
	missions, _ := os.ReadDir(h.Path("trash"))
	for _, m := range missions {
		entries, _ := os.ReadDir(h.Path("trash", m.Name()))
		for _, e := range entries {
			if place := TrashedBeside(h.Path("trash", m.Name(), e.Name())); place != "" {
				list = append(list, place)
			}
		}
	}
	return list
}
