package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// visible are the names that redis-server 7.0 gives to scripts, as far as gopher-lua has them. The others that gopher-lua has
// would read files of the host, print, or change what the next script finds.
var visible = map[string]string{
	"_G": "assert collectgarbage error getmetatable ipairs load loadstring next pairs pcall rawequal rawget rawset select" +
		" setmetatable tonumber tostring type unpack xpcall",
	lua.MathLibName: "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min mod modf pi pow" +
		" rad random randomseed sin sinh sqrt tan tanh",
	lua.StringLibName: "byte char dump find format gfind gmatch gsub len lower match rep reverse sub upper",
	lua.TabLibName:    "concat getn insert maxn remove sort",
}

// openGlobals gives an interpreter's scripts what they find. Nothing of it shows the host or can be changed, so that a script
// shares nothing with the next one.
func (in *interpreter) openGlobals() {
	l := in.state
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Call(0, 0)
	}
	all := l.G.Global
	base := in.pick(all, "_G", map[string]lua.LGFunction{"collectgarbage": collects, "tostring": in.tostring,
		"getmetatable": in.getmetatable, "next": in.next, "pairs": in.pairs,
		"setmetatable": in.unlessReadonly(all, "setmetatable"), "rawset": in.unlessReadonly(all, "rawset"),
		"rawget": in.lookingThrough(all, "rawget")})
	library := func(name string, ours map[string]lua.LGFunction) *lua.LTable {
		from := all.RawGetString(name).(*lua.LTable)
		if name == lua.TabLibName {
			ours["insert"] = in.unlessReadonly(from, "insert")
		}
		contents := in.pick(from, name, ours)
		base.RawSetString(name, in.readonly(contents))
		return contents
	}
	library(lua.MathLibName, map[string]lua.LGFunction{"random": in.random, "randomseed": in.randomseed})
	library(lua.TabLibName, map[string]lua.LGFunction{})
	strings := l.NewTable()
	strings.RawSetString("__index", library(lua.StringLibName, map[string]lua.LGFunction{"format": format}))
	l.SetMetatable(lua.LString(""), strings)
	in.metatableOfStrings = in.readonly(strings)
	commands := l.NewTable()
	setFunctions(l, commands, map[string]lua.LGFunction{"call": in.call, "pcall": in.pcall, "error_reply": errorReply,
		"status_reply": statusReply, "sha1hex": sha1hex, "replicate_commands": always})
	base.RawSetString("redis", in.readonly(commands))
	base.RawSetString("_VERSION", lua.LString(lua.LuaVersion))
	missing := l.NewTable()
	setFunctions(l, missing, map[string]lua.LGFunction{"__index": nonexistent})
	base.Metatable = missing
	in.metatableOfGlobals = in.readonly(missing)
	shown := in.readonly(base)
	base.RawSetString("_G", shown)
	l.Env, l.G.Global, in.globals = shown, shown, base
}

// pick copies what is visible of a library, in the order of the names, with ours in place of gopher-lua's.
func (in *interpreter) pick(from *lua.LTable, library string, ours map[string]lua.LGFunction) *lua.LTable {
	contents := in.state.NewTable()
	for _, name := range strings.Fields(visible[library]) {
		v := from.RawGetString(name)
		if f := ours[name]; f != nil {
			v = in.state.NewFunction(f)
		}
		contents.RawSetString(name, v)
	}
	return contents
}

// setFunctions fills a table in the order of the names: SetFuncs takes that of a map, which a script would see.
func setFunctions(l *lua.LState, t *lua.LTable, all map[string]lua.LGFunction) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.RawSetString(name, l.NewFunction(all[name]))
	}
}

// modifies is the error of redis-server for a change of what is given to scripts.
const modifies = "Attempt to modify a readonly table"

// readonly is a table that shows the contents and cannot be changed: it is empty, so that every assignment is one to a field
// that is not there.
func (in *interpreter) readonly(contents *lua.LTable) *lua.LTable {
	shown, meta := in.state.NewTable(), in.state.NewTable()
	meta.RawSetString("__index", contents)
	meta.RawSetString("__newindex", in.state.NewFunction(func(l *lua.LState) int {
		l.RaiseError(modifies)
		return 0
	}))
	shown.Metatable = meta
	in.contents[shown] = contents
	return shown
}

// behind is what a readonly table shows; nil for other values.
func (in *interpreter) behind(v lua.LValue) *lua.LTable {
	t, _ := v.(*lua.LTable)
	return in.contents[t]
}

// unlessReadonly is a function that changes the table that it is given, and refuses to if that is readonly.
func (in *interpreter) unlessReadonly(library *lua.LTable, name string) lua.LGFunction {
	changes := library.RawGetString(name).(*lua.LFunction).GFunction
	return func(l *lua.LState) int {
		if in.behind(l.Get(1)) != nil {
			l.Error(lua.LString(modifies), 0)
		}
		return changes(l)
	}
}

// lookingThrough is a function that reads the table that it is given, and the contents of a readonly one.
func (in *interpreter) lookingThrough(library *lua.LTable, name string) lua.LGFunction {
	reads := library.RawGetString(name).(*lua.LFunction).GFunction
	return func(l *lua.LState) int {
		if contents := in.behind(l.Get(1)); contents != nil {
			l.Replace(1, contents)
		}
		return reads(l)
	}
}

// next is Lua's.
func (in *interpreter) next(l *lua.LState) int {
	t := l.CheckTable(1)
	if contents := in.behind(t); contents != nil {
		t = contents
	}
	key, value := t.Next(l.Get(2))
	if key == lua.LNil {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(key)
	l.Push(value)
	return 2
}

// pairs is Lua's.
func (in *interpreter) pairs(l *lua.LState) int {
	t := l.CheckTable(1)
	l.Push(in.globals.RawGetString("next"))
	l.Push(t)
	l.Push(lua.LNil)
	return 3
}

// getmetatable is Lua's.
func (in *interpreter) getmetatable(l *lua.LState) int {
	switch v := l.CheckAny(1); {
	case v == l.G.Global:
		l.Push(in.metatableOfGlobals)
	case v.Type() == lua.LTString:
		l.Push(in.metatableOfStrings)
	case in.behind(v) != nil:
		l.Push(lua.LNil)
	default:
		l.Push(l.GetMetatable(v))
	}
	return 1
}

// nonexistent is what reading a global that is not there does.
func nonexistent(l *lua.LState) int {
	switch name := l.Get(2).(type) {
	case lua.LString, lua.LNumber:
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", name.String())
	default:
		l.RaiseError("Second argument to luaProtectedTableError must be a string or number")
	}
	return 0
}

// collects is collectgarbage. What it says of the memory is not the host's.
func collects(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}

// tostring is Lua's.
func (in *interpreter) tostring(l *lua.LState) int {
	v := l.CheckAny(1)
	if _, ok := l.GetMetaField(v, "__tostring").(*lua.LFunction); ok {
		l.Push(l.ToStringMeta(v))
	} else {
		l.Push(lua.LString(in.text(v)))
	}
	return 1
}

// text is how a value reads. In the place of its address is the order in which the script has asked for those.
func (in *interpreter) text(v lua.LValue) string {
	switch v.Type() {
	case lua.LTTable, lua.LTFunction, lua.LTUserData, lua.LTThread, lua.LTChannel:
		if in.addresses[v] == 0 {
			in.addresses[v] = 1 + len(in.addresses)
		}
		return fmt.Sprintf("%v: 0x%012x", v.Type(), 0x10*in.addresses[v])
	}
	return v.String()
}
