// The end of the program before its verb ends: Ctrl-C, SIGTERM, no memory. With --json stdout holds one document then,
// too.
#pragma once

namespace rt::program {

void owe_document(const char* schema);  // what `give_last_words` writes; null: nothing
void document_is_given();               // stdout gets what the program ends with: an interrupt changes nothing any more
void give_last_words(int exit_code, const char* message);

// From here on an interrupt cancels what is under way, the first time that there is something; else it ends the
// program at once.
void watch_interrupts();
void set_cancel(void (*cancel)());  // null: nothing is under way
bool interrupted();                 // something was cancelled

}  // namespace rt::program
