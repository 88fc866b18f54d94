import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;

/** Finds and fills the parameters of generated methods. */
abstract class Generated implements Main.Client {
  private static int files = 0;

  /** Returns a value of a type of generated code. */
  abstract Object valueOf(JsonElement value, Type type) throws Exception;

  /** Returns the method of a name that has the fewest parameters. */
  static Method methodOf(Class<?> api, String name) throws Main.Missing {
    return Arrays.stream(api.getMethods())
        .filter(method -> method.getName().equals(name))
        .min(Comparator.comparing(Method::getParameterCount))
        .orElseThrow(Main.Missing::new);
  }

  Object[] inputsOf(Method method, Main.Case given) throws Exception {
    JsonObject values = new JsonObject();
    given.arguments().entrySet().forEach(each -> values.add(each.getKey(), Main.untag(each.getValue())));
    JsonElement body = given.hasBody() ? Main.untag(given.json().get("body")) : null;
    boolean isForm = body != null && given.mediaType().matches("multipart/.*|.*-urlencoded");
    if (isForm) body.getAsJsonObject().entrySet().forEach(each -> values.add(each.getKey(), each.getValue()));
    Object[] inputs = new Object[method.getParameterCount()];
    for (int i = 0; i < inputs.length; i++) {
      Parameter parameter = method.getParameters()[i];
      String name = nameFor(parameter.getName(), values);
      JsonElement value = name == null ? null : values.remove(name);
      if (value == null && body != null && !isForm) {
        value = body;
        body = null;
      }
      if (value != null) inputs[i] = inputOf(value, parameter.getParameterizedType());
    }
    if (values.size() > 0) throw new IllegalArgumentException("the generated code has no parameter " + values.keySet());
    return inputs;
  }

  /** Returns the name of the document for a parameter, which has the same letters, or a prefix if it is a keyword. */
  private static String nameFor(String parameter, JsonObject values) {
    for (String name : values.keySet())
      if (List.of(letters(name), "property" + letters(name)).contains(letters(parameter))) return name;
    return null;
  }

  private static String letters(String name) {
    return name.toLowerCase().replaceAll("[^a-z0-9]", "");
  }

  Object inputOf(JsonElement value, Type type) throws Exception {
    if (type == File.class) return fileOf(value);
    if (type instanceof ParameterizedType list && list.getRawType() == List.class && value instanceof JsonArray items) {
      List<Object> values = new ArrayList<>();
      for (JsonElement item : items) values.add(inputOf(item, list.getActualTypeArguments()[0]));
      return values;
    }
    return valueOf(value, type);
  }

  private static File fileOf(JsonElement value) throws Exception {
    // A client may send the path, which must not differ in each run.
    Path directory = Files.createDirectories(Path.of("files", String.valueOf(++files)));
    if (value instanceof JsonPrimitive text)
      return Files.write(directory.resolve("bytes"), Base64.getDecoder().decode(text.getAsString())).toFile();
    JsonObject file = value.getAsJsonObject().getAsJsonObject("$file");
    return Files.writeString(directory.resolve(file.get("name").getAsString()), file.get("text").getAsString()).toFile();
  }
}
