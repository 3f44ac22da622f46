/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a sample's command line: --name=value or -name=value. */
#ifndef HEDDLE_CUDA_HELPER_STRING_H
#define HEDDLE_CUDA_HELPER_STRING_H
#pragma GCC system_header

#include <fstream>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, bytes, from) strcpy(to, from)
#define SPRINTF sprintf
#define FOPEN(file, name, mode) ((file) = fopen(name, mode))
#define FOPEN_FAIL(result) ((result) == NULL)
#define SSCANF sscanf
#define SNPRINTF snprintf
#endif

inline int stringRemoveDelimiter(char delimiter, const char *text)
{
    int at = 0;
    while (text[at] == delimiter)
        at++;
    return text[at] ? at : 0;
}
/* What stands behind the name: "" where nothing does; NULL: it was not given. */
static inline const char *heddle_argument(int argc, const char **argv, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i] + stringRemoveDelimiter('-', argv[i]);
        if (word != argv[i] && strncasecmp(word, name, length) == 0 && (!word[length] || word[length] == '='))
            return word[length] ? word + length + 1 : "";
    }
    return NULL;
}
inline bool checkCmdLineFlag(const int argc, const char **argv, const char *name)
{
    return heddle_argument(argc, argv, name) != NULL;
}
inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name)
{
    const char *value = heddle_argument(argc, argv, name);
    return value ? atoi(value) : 0;
}
inline float getCmdLineArgumentFloat(const int argc, const char **argv, const char *name)
{
    const char *value = heddle_argument(argc, argv, name);
    return value ? (float)atof(value) : 0;
}
inline bool getCmdLineArgumentString(const int argc, const char **argv, const char *name, char **out)
{
    const char *value = heddle_argument(argc, argv, name);
    *out = (char *)value;
    return value != NULL;
}
template <class T> inline bool getCmdLineArgumentValue(const int argc, const char **argv, const char *name, T *out)
{
    const char *value = heddle_argument(argc, argv, name);
    if (value)
        *out = (T)atoi(value);
    return value != NULL;
}
/* The file itself, in data/, or beside the program; NULL: it is in none. The caller frees it. */
inline char *sdkFindFilePath(const char *name, const char *program)
{
    std::string beside = program ? program : "";
    beside = beside.substr(0, beside.find_last_of('/') + 1);
    const std::string tries[] = {name, std::string("./data/") + name, std::string("../data/") + name, beside + name,
                                 beside + "data/" + name};
    for (const std::string &path : tries)
        if (std::ifstream(path))
            return strdup(path.c_str());
    return NULL;
}

#endif
