package main

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
)

// TestPlaceOf: places are what stays of a path the next time, and tell apart what is
// done otherwise.
func TestPlaceOf(t *testing.T) {
	const id = "01a9d2c4-77aa-4bcd-8eef-abcdefabcdef"
	for path, place := range map[string]string{
		"work":                              "workspace",
		"work/d00/e001/file_101.go":         "workspace/file",
		"work/.gitignore":                   "workspace/.gitignore",
		"work/many/.umbra-" + id + "-3":     "workspace/.umbra-*",
		"work/ignored/keep":                 "workspace/ignored",
		"work/readonly/file":                "workspace/readonly",
		"work/.git":                         "workspace/.git",
		"work/.git/objects/fe/dcba":         "workspace/.git/objects/*/dcba",
		"work/.git/refs/heads/umbra/x.lock": "workspace/.git/refs/*.lock",
		"homes/umbra/projects/work-c/shadow.git/refs/pins/one":           "home/umbra/projects/*/shadow.git/refs/pins/*",
		"homes/umbra/projects/work-c/shadow.git/refs/pins/one.lock":      "home/umbra/projects/*/shadow.git/refs/pins/*.lock",
		"homes/umbra/projects/work-c/shadow.git/umbra/reflocks/refs%2fa": "home/umbra/projects/*/shadow.git/umbra/reflocks/*",
		"homes/umbra/trash/12/fork-1":                                    "home/umbra/trash/*/fork-*",
		"homes/umbra/trash/12/fork-1/d00/e1/f":                           "home/umbra/trash/*/fork-*/file",
		"work/.git/objects/fe":                                           "workspace/.git/objects/*",
		"work/.git/objects/pack/pack-0a1b.pack":                          "workspace/.git/objects/pack/pack-*.pack",
		"work/.git/objects/ab/tmp_obj_aBcDef":                            "workspace/.git/objects/*/tmp_obj_*",
		"work/.git/packed-refs":                                          "workspace/.git/packed-refs",
		"ground-17/flat":                                                 "workspace/file",
		"ground-17-homes/umbra/journal/" + id:                            "home/umbra/journal/*",
		"homes/umbra/journal/live/" + id + ".log":                        "home/umbra/journal/live/*.log",
		"homes/umbra/statcache/12 (deleted)":                             "home/umbra/statcache/*",
		"forks":                                                          "forks",
		"forks/fork-3":                                                   "fork",
		"forks/fork-3/run.sh":                                            "fork/file",
		"forks/fork-3/.git":                                              "fork/.git",
		"settings.json":                                                  "settings.json",
	} {
		if is := placeOf(path); is != place {
			t.Errorf("%s is at %s, not %s", path, is, place)
		}
	}
}

// TestClasses: of each spot the first call, the second and one of the later ones are
// to fail, and some in each way; what has failed is not tried again, and what never
// came is said.
func TestClasses(t *testing.T) {
	h := newHarness(options{seed: 1, failing: true, each: true}, nil, nil)
	h.keepFailing()
	read, sync := faults.Spot{Kind: "read", Place: "home/umbra/x"}, faults.Spot{Kind: "sync", Place: "home/umbra/y"}
	h.noteFault("snapshot", faults.Counts, fate{calls: map[faults.Spot]int{read: 100, {Kind: "read", Place: ""}: 103, sync: 2}})
	trials := h.missing(0, newRand(1))
	if len(trials) != 3+2 || trials[0].fault.Spot == trials[1].fault.Spot || len(h.Classes[0]) != 2 || len(h.Classes[1]) != 3+2 || len(h.Classes[2]) != 1+2 {
		t.Fatalf("chosen %v of %v", trials, h.Classes)
	}
	later := 0
	for _, one := range trials {
		if one.fault.Spot == read && one.fault.Nth > 2 {
			later = one.fault.Nth
			continue // it does not come
		}
		h.noteFault(one.way.String(), one.fault, fate{hit: true})
	}
	again := h.missing(classTries, newRand(1))
	if later < 3 || later > 100 || len(again) != 1 || again[0].fault.Nth < 3 || again[0].fault.Nth > 3+97>>classTries {
		t.Errorf("of the later calls number %d was to fail, and then %v", later, again)
	}
	h.noteFault("snapshot", again[0].fault, fate{calls: map[faults.Spot]int{{Kind: "mkdir", Place: "home"}: 1}})
	if again = h.missing(0, newRand(1)); len(again) != 1+3 {
		t.Errorf("another call was seen, and those to fail are %v", again)
	}
	text := strings.Join(h.Classes.summary(), "\n")
	for _, said := range []string{"place: 2 of 3", "a later one: 4 of 6", "its errors: 3 of 6", "Not yet: 1, such as `snapshot: mkdir home`."} {
		if !strings.Contains(text, said) {
			t.Errorf("%q is not in\n%s", said, text)
		}
	}
	if names := classNames(faults.Fault{Spot: read, Nth: 7, Err: faults.HalfDone}, "x"); names != [...]string{"x: read home/umbra/x", "x: read home/umbra/x, later", "x: read home/umbra/x: half of it done"} {
		t.Error(names)
	}
}
