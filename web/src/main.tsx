import { createRoot } from "react-dom/client";
import { Root } from "./app";

const place = document.getElementById("root");
if (place) createRoot(place).render(<Root />);
