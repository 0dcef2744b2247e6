//! Opening the files of modules that have been loaded, and what is not used of them.

use crate::modules::{Module, Modules};
use juror_debuggee::ModuleFile;
use juror_symbols::SymbolFile;
use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;

/// A module whose symbols are not used.
#[derive(Debug, Clone)]
pub(super) struct LeftOut {
    path: PathBuf,
    bias: u64,
    /// The reason, as a sentence.
    why: String,
    is_reported: bool,
}

impl Modules {
    /// Replaces the list by the modules that are loaded now. The symbols of modules that stay are
    /// kept. A module is left out if its file cannot be read, or if `is_linked` says of its symbols
    /// and its bias that the process has linked another one. Returns whether a module has left.
    pub fn update(
        &mut self,
        now: impl IntoIterator<Item = ModuleFile>,
        is_linked: impl Fn(&SymbolFile, u64) -> bool,
    ) -> bool {
        let before = std::mem::take(&mut self.loaded);
        let left_out = std::mem::take(&mut self.left_out);
        for file in now {
            let known = before.iter().find(|module| module.is_from(&file));
            if let Some(module) = known {
                self.loaded.push(Rc::clone(module));
                continue;
            }
            let (path, bias) = (file.module.path.clone(), file.module.bias);
            match self.opened(file, &is_linked) {
                Ok(module) => self.loaded.push(Rc::new(module)),
                Err(why) => {
                    let mut before = left_out.iter();
                    let is_reported = before.any(|it| {
                        it.is_reported && (&it.path, it.bias, &it.why) == (&path, bias, &why)
                    });
                    self.left_out.push(LeftOut {
                        path,
                        bias,
                        why,
                        is_reported,
                    });
                }
            }
        }
        let stays = |module: &Rc<Module>| self.loaded.iter().any(|it| Rc::ptr_eq(it, module));
        let has_left = !before.iter().all(stays);
        // Another library may be loaded at the same address later.
        let loaded = &self.loaded;
        let is_loaded = |address: &u64| loaded.iter().any(|module| module.contains(*address));
        self.indirect.retain(|resolver, _| is_loaded(resolver));
        self.objects.get_mut().clear();
        has_left
    }

    /// Opens the file of a module that has been loaded.
    fn opened(
        &self,
        file: ModuleFile,
        is_linked: &impl Fn(&SymbolFile, u64) -> bool,
    ) -> Result<Module, String> {
        let juror_debuggee::Module {
            path,
            bias,
            is_main,
            ..
        } = file.module;
        let place = file.opened?;
        let symbols = self.store.open(&place, &path);
        let symbols = symbols.map_err(|error| format!("{error}: it has no symbols"))?;
        if !is_linked(&symbols, bias) {
            return Err(format!(
                "{} was overwritten after the program had loaded it: its symbols are not used, and \
                 nothing is set in it",
                path.display()
            ));
        }
        let built = std::fs::metadata(&place).and_then(|data| data.modified());
        Ok(Module {
            path,
            mapped: file.mapped,
            bias,
            is_main,
            is_late: self.is_started,
            symbols,
            built: built.ok(),
            tables: OnceCell::new(),
        })
    }

    /// Returns why the symbols of modules are not used, each once.
    pub fn take_left_out(&mut self) -> Vec<String> {
        let new = self.left_out.iter_mut().filter(|it| !it.is_reported);
        new.map(|it| {
            it.is_reported = true;
            it.why.clone()
        })
        .collect()
    }
}
